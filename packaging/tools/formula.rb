# Follows a formula of Homebrew with stand-ins for brew: `cargo install` copies programs that are built already.
#
#   ruby formula.rb FORMULA PROGRAMS PREFIX
require "fileutils"
require "open3"
require "pathname"

FORMULA, PROGRAMS, PREFIX = ARGV.map { |it| Pathname(it).expand_path }
ROOT = FORMULA.dirname.parent
CRATES = { "cli" => "noisy-check", "lsp" => "noisy-lsp", "opt" => "noisy-opt" }.freeze

module Utils
  def self.safe_popen_read(*command)
    said, status = Open3.capture2(*command.map(&:to_s))
    raise "#{command} failed" unless status.success?

    said
  end
end

class Pathname
  undef write
  def write(text)
    FileUtils.mkdir_p(dirname)
    File.write(self, text)
  end
end

# What the formula uses of brew's class, and nothing else: a word that brew lacks is an error here as well.
class Formula
  class << self
    attr_reader :known, :tested

    %i[desc homepage url license head depends_on].each do |name|
      define_method(name) { |*given, **named| (@known ||= {}).update(name => [*given, named]) }
    end

    def test(&block) = @tested = block
  end

  def bin = PREFIX/"bin"
  def man1 = PREFIX/"share/man/man1"
  def testpath = PREFIX/"test"
  def std_cargo_args(path:) = ["--locked", "--root=#{PREFIX}", "--path=#{path}"]

  def system(*command)
    crate = command.last.delete_prefix("--path=")
    raise "unknown: #{command}" unless command[0, 2] == %w[cargo install] && (ROOT/crate/"Cargo.toml").exist?

    FileUtils.mkdir_p(bin)
    FileUtils.cp(PROGRAMS/CRATES.fetch(crate), bin)
  end

  def generate_completions_from_executable(program, command)
    { "bash" => "noisy-check.bash", "fish" => "noisy-check.fish", "zsh" => "_noisy-check" }.each do |shell, name|
      (PREFIX/"completions"/name).write(Utils.safe_popen_read(program, command, shell))
    end
  end

  def shell_output(command) = Dir.chdir(testpath) { Utils.safe_popen_read("sh", "-c", command) }

  def assert_match(wanted, said)
    raise "#{said.inspect} has no #{wanted.inspect}" unless said.include?(wanted)
  end
end

load FORMULA.to_s
missing = %i[desc homepage url license] - Noisy.known.keys
raise "the formula does not tell #{missing}" unless missing.empty?

formula = Noisy.new
formula.install
FileUtils.mkdir_p(formula.testpath)
formula.instance_eval(&Noisy.tested)
