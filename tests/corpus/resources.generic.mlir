"builtin.module"() ({
  "ex.use"() {value = dense_resource<blob> : tensor<2xi32>} : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000100000002000000"
    }
  }
#-}

