// checks: dead-store
func.func @f(%a: i32, %b: i32, %m: memref<4xi32>, %other: memref<4xi32>, %i: index, %c: i1) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // Stored over.
  memref.store %a, %m[%c0] : memref<4xi32>
//^^^^^^^^^^^^^^^^^^^^^^^ hint[dead-store]: line 7 overwrites this before anything reads it
  memref.store %b, %m[%c0] : memref<4xi32>
  // Read in between, perhaps by another name.
  memref.store %a, %m[%c1] : memref<4xi32>
  %0 = memref.load %other[%i] : memref<4xi32>
  memref.store %b, %m[%c1] : memref<4xi32>
//^^^^^^^^^^^^^^^^^^^^^^^ hint[dead-store]: line 16 overwrites this before anything reads it
  // Perhaps another element.
  memref.store %a, %m[%c0] : memref<4xi32>
  memref.store %b, %m[%i] : memref<4xi32>
  // Only on one way.
  memref.store %a, %m[%c1] : memref<4xi32>
  scf.if %c {
    memref.store %b, %m[%c1] : memref<4xi32>
  }
  // A buffer that nobody reads, and one that is handed on.
  %own = memref.alloc() : memref<4xi32>
  memref.store %a, %own[%c0] : memref<4xi32>
//^^^^^^^^^^^^^^^^^^^^^^^^^ hint[dead-store]: nothing reads the stored value
  memref.dealloc %own : memref<4xi32>
  %given = memref.alloc() : memref<4xi32>
  memref.store %a, %given[%c0] : memref<4xi32>
  func.call @g(%given) : (memref<4xi32>) -> ()
  return %0 : i32
}

func.func private @g(memref<4xi32>)
