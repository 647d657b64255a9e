# In a checkout: nix build
{
  description = "Noise of homomorphic encryption in MLIR: checker, language server, passes";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      workspace = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace;
    in
    {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "noisy";
          inherit (workspace.package) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          buildType = "dist";
          cargoBuildFlags = [ "-p" "noisy-check" "-p" "noisy-lsp" "-p" "noisy-opt" ];
          # They compare with tools that are not here.
          doCheck = false;
          nativeBuildInputs = [ pkgs.cmake pkgs.installShellFiles pkgs.rustPlatform.bindgenHook ];
          dontUseCmakeConfigure = true;
          postInstall = ''
            for shell in bash fish zsh; do
              $out/bin/noisy-check completions $shell > noisy-check.$shell
            done
            installShellCompletion noisy-check.{bash,fish,zsh}
            $out/bin/noisy-check man > noisy-check.1
            installManPage noisy-check.1
          '';
          meta = {
            description = "Noise of homomorphic encryption in MLIR: checker, language server, passes";
            homepage = workspace.package.repository;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "noisy-check";
          };
        };
      });
    };
}
