# Homebrew: brew install --build-from-source ./noisy.rb
class Noisy < Formula
  desc "Noise of homomorphic encryption in MLIR: checker, language server, passes"
  homepage "https://github.com/OWNER/REPOSITORY"
  url "https://github.com/OWNER/REPOSITORY/archive/refs/tags/v0.1.0.tar.gz"
  license any_of: ["MIT", "Apache-2.0"]
  head "https://github.com/OWNER/REPOSITORY.git", branch: "main"

  depends_on "cmake" => :build
  depends_on "llvm" => :build
  depends_on "rust" => :build

  def install
    %w[cli lsp opt].each { |crate| system "cargo", "install", *std_cargo_args(path: crate) }
    generate_completions_from_executable(bin/"noisy-check", "completions")
    (man1/"noisy-check.1").write Utils.safe_popen_read(bin/"noisy-check", "man")
  end

  test do
    (testpath/"a.mlir").write "func.func @f() {\n  return\n}\n"
    assert_match "No problems in 1 file.", shell_output("#{bin}/noisy-check --no-cache a.mlir")
  end
end
