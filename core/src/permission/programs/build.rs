//! Programs that build and test, and the package managers.

use super::Class::{Builds, Connects, Publishes, Runs};
use super::Role::{Data, Write};
use super::{Program, makes_with, plain, program, takes};
use crate::permission::scripts;

pub(super) const TABLE: &[Program] = &[
    program(&["make", "gmake"], Builds, "builds with the project's makefile")
        .options(&[
            takes(&["-C", "--directory"], Write),
            super::attached(&["-j", "--jobs", "-l", "--load-average", "-O", "--output-sync"]),
            plain(&["-k", "--keep-going", "-s", "--silent", "--quiet", "-B", "--always-make", "-n",
                "--dry-run", "--no-print-directory", "-q", "--question", "-w",
                "--print-directory", "-i", "--ignore-errors", "--trace", "--version"]),
            makes_with(&["-f", "--file", "--makefile", "-I", "--include-dir", "--eval", "-E",
                "-W", "--what-if", "-o", "--old-file"], Data, Runs),
            super::makes(&["-e", "--environment-overrides"], Runs),
        ])
        .only_these_options()
        .check(scripts::make),
    program(&["ninja", "samu"], Builds, "builds what was configured")
        .options(&[
            takes(&["-C"], Write),
            takes(&["-j", "-k", "-l", "-d", "-w"], Data),
            plain(&["-v", "--verbose", "-n", "--quiet", "--version"]),
            makes_with(&["-f", "-t"], Data, Runs),
        ])
        .only_these_options()
        .check(scripts::ninja),
    program(&["cmake"], Builds, "configures and builds")
        .options(&[
            takes(&["-S", "-B", "--build", "--open"], Write),
            takes(&["-G", "-T", "-A", "-j", "--parallel", "-t", "--target", "--config", "--preset",
                "--log-level"], Data),
            takes(&["-D"], Data),
            plain(&["--fresh", "--clean-first", "-v", "--verbose", "--list-presets", "-N", "-L",
                "-LA", "-LH", "--version", "-Wdev", "-Wno-dev"]),
            makes_with(&["-E", "-P", "-C", "--install", "--toolchain", "--workflow", "-U",
                "--find-package", "--graphviz", "--trace-redirect", "--system-information",
                "--debugger-pipe", "--install-prefix", "--project-file", "--profiling-output"],
                Data, Runs),
        ])
        .only_these_options()
        .operands(&[Write])
        .check(scripts::cmake),
    program(&["ctest", "meson", "bazel", "bazelisk", "buck", "scons", "waf", "rake", "gradle",
        "gradlew", "mvn", "ant", "sbt", "xcodebuild", "msbuild", "just", "task", "nox", "tox",
        "invoke", "grunt", "gulp", "turbo", "nx"], Runs, "runs the project's own tasks"),
    program(&["cargo", "rustc", "rustup", "rustdoc", "clippy-driver", "wasm-pack", "cross"], Runs,
        "builds and tests Rust, running build scripts")
        .check(scripts::package_manager),
    program(&["npm", "pnpm", "yarn", "bun", "npx", "bunx", "pnpx", "corepack", "node-gyp"], Runs,
        "runs the scripts of packages")
        .check(scripts::package_manager),
    program(&["pip", "pip3", "pipx", "uv", "uvx", "poetry", "pdm", "hatch", "conda", "mamba",
        "easy_install", "twine", "tox-uv"], Runs, "installs and runs packages")
        .check(scripts::package_manager),
    program(&["gem", "bundle", "bundler", "composer", "mix", "rebar3", "cabal", "stack", "opam",
        "swift", "pod", "dotnet", "nuget", "luarocks", "cpan", "cpanm", "go", "gofmt", "deno"],
        Runs, "builds and runs packages")
        .check(scripts::package_manager),
    program(&["pytest", "py.test", "jest", "vitest", "mocha", "ava", "playwright", "cypress",
        "phpunit", "rspec", "nextest", "gotestsum", "tap", "nose2"], Runs, "runs the tests"),
    program(&["tsc", "eslint", "prettier", "ruff", "black", "isort", "mypy", "pyright", "flake8",
        "pylint", "rustfmt", "clang-format", "clang-tidy", "golangci-lint", "shellcheck", "shfmt",
        "stylelint", "biome", "oxlint", "webpack", "vite", "esbuild", "rollup", "tsx", "ts-node",
        "babel"], Runs, "checks or changes code, with plugins of the project"),
    program(&["gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "ar", "as", "nasm", "javac",
        "java", "kotlinc", "scalac", "ghc", "ocamlfind", "zig", "nim", "dmd", "gfortran"], Runs,
        "compiles or runs code"),
    program(&["apt", "apt-get", "aptitude", "dpkg", "yum", "dnf", "rpm", "pacman", "apk", "zypper",
        "brew", "port", "snap", "flatpak", "nix", "nix-env", "nix-shell", "winget", "choco",
        "scoop", "emerge"], Runs, "installs software"),
    program(&["terraform", "tofu", "pulumi", "ansible", "ansible-playbook", "helm", "vagrant",
        "packer", "serverless", "sam", "cdk", "flyctl", "fly", "heroku", "vercel", "netlify",
        "wrangler", "firebase", "supabase"], Publishes, "changes infrastructure"),
    program(&["aws", "gcloud", "az", "doctl", "gsutil", "s3cmd", "rclone", "mc"], Connects,
        "talks to a cloud"),
];
