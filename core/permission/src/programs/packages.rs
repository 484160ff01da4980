//! Package managers, and what they build, test and run.

use super::super::judge::{tasks, wrappers};
use super::Class::{
    Changes, Connects, Deletes, Describes, Fetches, Finds, Installs, NamesCode, Prints, Publishes,
    Reads, Reveals, Runs, Writes,
};
use super::Role::{Code, Command, Data, Name, Read, Refused, Shell, Word, Write};
use super::{
    Flag, ProgramEntry, attached, makes, makes_with, plain, program, publisher, stays, takes,
};

/// Where the options come from.
pub(super) const SOURCE: &str = "manuals of cargo 1.95, npm 10, pnpm 9, pip 24, uv 0.5, go 1.23";

const CARGO: &[Flag] = &[
    makes_with("--config -Z", Data, NamesCode),
    takes("--manifest-path --lockfile-path -C", Code),
    takes("--target-dir --artifact-dir --out-dir", Write),
    takes(
        "-p --package --exclude -j --jobs --bin --example --test --bench -F --features --target \
         --profile --color --message-format --depth --prune -e --edges -i --invert --prefix \
         --charset -f --format --format-version --filter-platform --edition -E",
        Data,
    ),
    attached("--timings"),
    plain(
        "-q --quiet -v --verbose -vv -r --release --all --workspace --all-targets \
         --all-features --no-default-features --lib --bins --examples --tests --benches --doc \
         --no-run --no-fail-fast --keep-going --locked --offline --frozen -d --duplicates \
         --no-dedupe --no-deps --check -n --dry-run --open --fix --allow-dirty --allow-staged \
         --document-private-items --list",
    ),
];

const fn cargo(names: &'static str, class: super::Class, about: &'static str) -> ProgramEntry {
    program(names, class, about).more_options(CARGO)
}

const CARGO_COMMANDS: &[ProgramEntry] = &[
    cargo(
        "build b check c clippy test t bench doc d rustc rustdoc nextest miri fix llvm-cov \
         expand hack udeps deny audit machete tree metadata pkgid locate-project verify-project \
         read-manifest version help",
        Runs,
        "builds and runs the project",
    )
    .operands(&[Name]),
    cargo("run r", Runs, "builds and runs the project").operands(&[Data]).check(tasks::run_target),
    // A source file outside would be formatted in place.
    cargo("fmt", Runs, "formats the project").operands(&[Data]).check(tasks::cargo_fmt),
    cargo("clean", Writes, "removes what was built").check(tasks::cargo_clean),
    cargo("xtask", Runs, "runs the project's own tasks").check(tasks::task),
    cargo("search info", Fetches, "asks the registry"),
    cargo("fetch update generate-lockfile add remove rm vendor", Fetches, "changes dependencies"),
    cargo("new init", Changes, "makes a package").operands(&[Write]),
    cargo("install uninstall", Installs, "installs programs"),
    cargo("package", Runs, "makes a package").operands(&[Data]),
    cargo("publish", Publishes, "publishes packages").check(tasks::dry_run),
    cargo("yank owner login logout", Publishes, "publishes packages"),
    publisher("contract", &[stays("build check new test encode decode info verify")]),
    publisher("ws workspaces", &[stays("list ls plan changed create init exec")]),
];

const NPM: &[Flag] = &[
    makes_with(
        "--script-shell --node-options --git --shell --editor --init-module --node-gyp --python \
         --browser --viewer --config",
        Data,
        NamesCode,
    ),
    makes_with("--registry --https-proxy --proxy", Data, Connects),
    takes("--prefix -C --userconfig --globalconfig", Code),
    takes("--cache --logs-dir", Write),
    takes(
        "-w --workspace --depth --omit --include --loglevel --tag \
         --otp --access --scope --preid -m --message --audit-level --maxsockets --fetch-timeout \
         --fetch-retries --fetch-retry-mintimeout --fetch-retry-maxtimeout",
        Data,
    ),
    makes("-g --global --location", Installs),
    plain(
        "--save -S --save-dev -D --save-exact -E --save-optional -O --no-save --production \
         --ignore-scripts --frozen-lockfile --no-frozen-lockfile --prefer-offline --offline \
         --force -f --legacy-peer-deps --no-audit --no-fund --json --long --all -a --parseable \
         --if-present --silent -s --verbose -d -r --recursive --workspaces -ws --dry-run --yes -y \
         --quiet -q --foreground-scripts --progress --audit --fund --package-lock-only --timing \
         --include-workspace-root --install-links --engine-strict --strict-peer-deps",
    ),
];

const fn npm(names: &'static str, class: super::Class, about: &'static str) -> ProgramEntry {
    program(names, class, about).more_options(NPM)
}

/// Settings that are no secrets.
const SETTING: ProgramEntry = npm("get", Reveals, "shows a setting")
    .subcommands(&[npm(
        "registry prefix cache userconfig globalconfig init-module loglevel engine-strict \
         ignore-scripts save-exact save-prefix legacy-peer-deps package-lock strict-ssl store-dir \
         node-linker",
        Runs,
        "shows a setting",
    )
    .operands(&[Refused])])
    .otherwise(Reveals);

const NPM_COMMANDS: &[ProgramEntry] = &[
    npm(
        "install i ci add update up upgrade uninstall remove rm rebuild dedupe prune audit fund \
         import approve-builds",
        Runs,
        "installs the packages of the project",
    ),
    npm("run run-script", Runs, "runs scripts of the project")
        .operands(&[Name, Data])
        .check(tasks::task),
    npm(
        "test t tst start stop restart create init build lint dev format typecheck node",
        Runs,
        "runs scripts of the project",
    )
    .check(tasks::task),
    npm("workspace workspaces", Runs, "runs scripts of the project").check(tasks::workspace),
    program("exec x dlx", Runs, "runs a package").any_options().check(tasks::runner),
    program("npm", Fetches, "asks the registry").any_options().subcommands(&[
        program("audit info", Fetches, "asks the registry").any_options(),
        program("publish tag login logout whoami", Publishes, "publishes packages").any_options(),
    ]),
    npm("view info show outdated search doctor ping", Fetches, "asks the registry"),
    npm("version pack pkg set-script shrinkwrap", Changes, "changes the package"),
    npm("cache store", Runs, "looks after packages that were fetched"),
    npm("config c", Reveals, "shows or changes settings")
        .subcommands(&[SETTING])
        .otherwise(Reveals),
    SETTING,
    npm("set", Reveals, "changes settings"),
    npm("link ln unlink global setup", Installs, "installs programs"),
    npm("publish", Publishes, "publishes packages").check(tasks::dry_run),
    npm(
        "unpublish deprecate undeprecate dist-tag tag owner access token login logout adduser \
         team org star unstar hook profile whoami sbom",
        Publishes,
        "publishes packages",
    ),
];

/// Commands that only npm has by all of these names.
const NPM_LISTS: &[ProgramEntry] = &[
    npm("ls list ll la why explain query", Finds, "lists installed packages").check(tasks::npm),
    npm("root prefix bin", Reads, "shows a folder").check(tasks::npm),
    // A manual may include files, and a topic with a slash is a path.
    npm("help", Reads, "helps").operands(&[Word]).check(tasks::npm),
    npm(
        "install-test it install-ci-test cit sit clean-install install-clean ic ddp rb find-dupes \
         approve-scripts deny-scripts install-scripts edit completion",
        Runs,
        "installs the packages of the project",
    ),
    program("explore", Runs, "runs a command in the folder of a package")
        .any_options()
        .operands(&[Data, Command])
        .check(wrappers::explore),
    npm("find diff stars bugs issues docs home repo help-search", Fetches, "asks the registry"),
];

/// The others run the script of such a name, hooks that the workspace names (pnpm), or the program that
/// `yarnPath` names.
const OTHER_LISTS: &[ProgramEntry] = &[npm(
    "ls list ll la why explain root prefix bin query help",
    Runs,
    "lists packages, or runs a script of the project",
)];

const fn like_npm(name: &'static str) -> ProgramEntry {
    npm(name, Runs, "manages packages")
        .more_subcommands(&[OTHER_LISTS, NPM_COMMANDS])
        .alone()
        .otherwise(Runs)
}

const PIP: &[Flag] = &[
    makes_with(
        "-i --index-url --extra-index-url -f --find-links --trusted-host --proxy",
        Data,
        Connects,
    ),
    makes_with(
        "--python --config-settings --global-option --build-option --install-option \
         --keyring-provider",
        Data,
        NamesCode,
    ),
    takes("-r --requirement -c --constraint --cert --client-cert", Read),
    takes("-t --target --prefix --root --log --report --cache-dir -d --dest", Write),
    takes("-e --editable", Data),
    makes("--break-system-packages", Installs),
    plain(
        "-q --quiet -v --verbose -U --upgrade --user --no-deps --pre --no-cache-dir -y --yes \
         --force-reinstall --no-build-isolation --disable-pip-version-check -l --local -o \
         --outdated --not-required --all --no-input --require-virtualenv --isolated",
    ),
    takes("--format --exclude --upgrade-strategy --only-binary --no-binary --platform", Data),
];

const fn pip(names: &'static str, class: super::Class, about: &'static str) -> ProgramEntry {
    program(names, class, about).more_options(PIP)
}

const PIP_COMMANDS: &[ProgramEntry] = &[
    // The Python of the project's environment does it.
    pip("list show freeze check inspect", Runs, "lists installed packages"),
    pip("install uninstall wheel sync compile tree", Runs, "installs packages"),
    pip("download index search", Fetches, "asks the registry"),
    pip("cache", Runs, "looks after packages that were fetched"),
    pip("config debug", Reveals, "shows or changes settings"),
    pip("help", Prints, "helps"),
];

/// What uv, poetry and their kin do to the project and its environment.
const PROJECTS: &[ProgramEntry] = &[
    program(
        "sync lock add remove install update venv build init export tree check show shell test fmt \
         format lint dev",
        Runs,
        "installs and runs the project",
    )
    .any_options()
    .options(&[
        makes_with("--index-url --extra-index-url --index", Data, Connects),
        makes_with("--python -p", Data, NamesCode),
        takes("--project --directory -C -P --config-file", Code),
        takes("--target --prefix --cache-dir -o --output-file", Write),
    ]),
    program("run x", Runs, "runs a program of the project").any_options().check(tasks::runner),
    program("pip", Runs, "installs packages")
        .any_options()
        .subcommands(PIP_COMMANDS)
        .otherwise(Runs),
    program("version", Changes, "shows or changes a version").any_options(),
    program("tool", Installs, "installs programs")
        .any_options()
        .subcommands(&[
            program("run", Runs, "runs a package").any_options().check(tasks::runner),
            // Each may load plugins of the project, and uv runs what it finds.
            program("list dir", Runs, "lists programs").any_options(),
        ])
        .otherwise(Installs),
    program("python self", Installs, "installs programs").any_options(),
    program("publish login auth", Publishes, "publishes packages").any_options(),
];

const GO: &[Flag] = &[
    makes_with("-exec -toolexec -vettool -overlay -modfile -ldflags -gcflags", Data, NamesCode),
    takes("-C -pkgdir", Code),
    takes("-o -coverprofile -cpuprofile -memprofile -trace -outputdir -blockprofile", Write),
    takes("-run -bench -count -timeout -tags -mod -p -parallel -cpu -skip -buildmode -f", Data),
    plain(
        "-v -x -a -n -race -msan -asan -short -failfast -json -cover -work -trimpath -m -u -d -i \
         -all -src -cmd -benchmem -buildvcs -covermode -shuffle -e -deps -test -export",
    ),
];

const fn go(names: &'static str, class: super::Class, about: &'static str) -> ProgramEntry {
    program(names, class, about).more_options(GO)
}

const GO_COMMANDS: &[ProgramEntry] = &[
    // `go doc` is a tool of its own, which fills the cache of builds.
    go("build test vet generate tool list doc fmt", Runs, "builds the project").operands(&[Name]),
    go("run", Runs, "builds and runs the project").check(tasks::run_target),
    // `go.mod` chooses the version.
    go("version", Finds, "shows its version"),
    go("get mod work", Fetches, "changes dependencies"),
    go("env", Describes, "shows settings").options(&[makes("-w", Installs)]),
    go("clean", Deletes, "removes what was built"),
    go("install", Installs, "installs programs"),
];

/// Commands of package managers that publish, or run something else.
const PACKAGES: &[ProgramEntry] = &[
    program(
        "publish push login logout owner yank signin nuget report",
        Publishes,
        "publishes packages",
    )
    .any_options(),
    program("--version", Prints, "shows its version"),
    program("exec", Runs, "runs a program of the project").any_options().check(tasks::runner),
    program("task run", Runs, "runs tasks of the project").any_options().check(tasks::task),
    program("ef", Runs, "works with a database").any_options().check(tasks::migration),
];

pub(super) const TABLE: &[ProgramEntry] = &[
    program("cargo cross", Runs, "builds Rust")
        .options(CARGO)
        .subcommands(CARGO_COMMANDS)
        .otherwise(Runs),
    program("rustc rustdoc clippy-driver", Runs, "compiles Rust").any_options(),
    publisher("wasm-pack", &[stays("build test new pack")]),
    program("rustup", Installs, "manages toolchains")
        .options(&[plain("-q --quiet -v --verbose")])
        .subcommands(&[
            // It runs the compiler of the toolchain, whose folder the project may name.
            program("show", Runs, "shows toolchains").any_options(),
            program("which check", Finds, "shows toolchains").options(&[plain("-v --verbose")]),
            program("toolchain target component", Installs, "manages toolchains")
                .subcommands(&[program("list", Finds, "lists toolchains").options(&[
                    plain("-v --verbose --installed -q --quiet"),
                    takes("--toolchain", Data),
                ])])
                .otherwise(Installs),
            program("run doc", Runs, "runs a program of a toolchain").any_options(),
        ])
        .otherwise(Installs),
    program("npm", Runs, "manages packages")
        .options(NPM)
        .more_options(&[takes("-c --call", Shell)])
        .more_subcommands(&[NPM_LISTS, NPM_COMMANDS])
        .alone()
        .check(tasks::npm)
        // It runs no script of such a name: an alias, or a command of a newer version.
        .otherwise(Publishes),
    like_npm("yarn").options(&[takes("--cwd", Code)]),
    like_npm("bun").options(&[takes("-F --filter", Data), takes("--cwd", Code)]),
    like_npm("pnpm").options(&[
        takes("-F --filter --filter-prod --loglevel --reporter --workspace-concurrency", Data),
        takes("-C --dir", Code),
        plain("-w --workspace-root -c --shell-mode"),
    ]),
    program("npx bunx pnpx uvx", Runs, "runs a package").any_options().check(tasks::runner),
    program("pipx", Runs, "runs a package")
        .any_options()
        .subcommands(&[
            program("run", Runs, "runs a package").any_options().check(tasks::runner),
            program("list", Reads, "lists installed packages")
                .options(&[plain("--short --json --include-injected --skip-maintenance")]),
        ])
        .otherwise(Installs),
    program("node-gyp", Runs, "builds a package").any_options(),
    program("corepack", Installs, "installs package managers").any_options(),
    program("pip pip3", Runs, "installs packages")
        .options(PIP)
        .subcommands(PIP_COMMANDS)
        .otherwise(Runs),
    program("uv poetry pdm hatch pipenv rye", Runs, "manages a project")
        .any_options()
        .subcommands(PROJECTS)
        .otherwise(Runs),
    publisher("twine goreleaser", &[stays("check build")]),
    program(
        "semantic-release release-it np ovsx eas gh-pages ghp-import surge postgrator tbump",
        Publishes,
        "publishes what the project makes",
    )
    .any_options(),
    publisher(
        "lerna",
        &[
            stays("run list ls add bootstrap changed diff"),
            program("exec", Runs, "runs a program in each package")
                .any_options()
                .check(tasks::runner),
        ],
    ),
    publisher("changeset", &[stays("add status")]),
    publisher("vsce", &[stays("ls")]),
    publisher("fastlane", &[stays("list test build lint")]),
    program("prisma", Runs, "works with a database")
        .any_options()
        .subcommands(&[
            program("generate format validate studio", Runs, "works with a schema").any_options(),
            program("migrate", Runs, "changes a database")
                .any_options()
                .subcommands(&[program(
                    "dev status diff",
                    Runs,
                    "changes a database of this machine",
                )
                .any_options()])
                .otherwise(Publishes),
        ])
        .otherwise(Publishes),
    program(
        "alembic flask goose dotnet-ef dbmate aerich umzug mikro-orm typeorm diesel sqlx",
        Runs,
        "works with a database",
    )
    .any_options()
    .check(tasks::migration),
    program("electron-builder", Runs, "builds packages")
        .any_options()
        .options(&[takes("-p --publish", Data)])
        .check(tasks::packs),
    program("conda mamba easy_install tox-uv", Runs, "installs and runs packages")
        .any_options()
        .check(wrappers::may_hand_on),
    program("go", Runs, "builds Go").subcommands(GO_COMMANDS),
    program("gofmt", Finds, "formats files").operands(&[Write]).options(&[
        takes("-r", Data),
        takes("-cpuprofile", Write),
        plain("-l -d -e -s -w"),
    ]),
    program(
        "gem bundle bundler composer cabal stack opam swift luarocks cpan cpanm deno",
        Runs,
        "builds and runs packages",
    )
    .any_options()
    .subcommands(PACKAGES)
    .otherwise(Runs),
    program("dotnet", Runs, "builds and runs packages")
        .any_options()
        .subcommands(&[
            program("publish", Runs, "writes the program to a folder")
                .any_options()
                .check(tasks::dotnet_publish),
            publisher("nuget", &[stays("list locals verify why")]),
        ])
        .more_subcommands(&[PACKAGES])
        .otherwise(Runs),
    program("pod", Runs, "builds and runs packages")
        .any_options()
        .subcommands(&[publisher("trunk", &[stays("info")])])
        .more_subcommands(&[PACKAGES])
        .otherwise(Runs),
    program("flutter dart", Runs, "builds and runs packages")
        .any_options()
        .subcommands(&[publisher(
            "pub packages",
            &[stays(
                "get upgrade downgrade outdated add remove deps cache run global bump unpack \
                 version build workspace",
            )],
        )
        .options(&[takes("-C --directory", Code)])])
        .more_subcommands(&[PACKAGES])
        .otherwise(Runs),
    publisher(
        "nuget",
        &[stays("restore install list search pack spec update locals sources config verify help")],
    ),
    program("mix rebar3", Runs, "builds and runs packages").any_options().check(tasks::task),
    program(
        "apt apt-get aptitude dpkg yum dnf rpm pacman apk zypper brew port snap flatpak nix \
         nix-env nix-shell winget choco scoop emerge",
        Installs,
        "installs software",
    )
    .any_options()
    .subcommands(&[program(
        "list show search policy info depends rdepends changelog",
        Describes,
        "shows packages",
    )
    .any_options()])
    .otherwise(Installs),
    program("apt-cache dpkg-query", Describes, "shows packages").any_options(),
    publisher("auto", &[stays("info version label pr-check")]),
    publisher(
        "hexo",
        &[
            stays("init new server s clean list version"),
            program("generate g", Runs, "builds pages")
                .any_options()
                .options(&[makes("-d --deploy", Publishes)]),
        ],
    ),
    publisher("web-ext", &[stays("run lint build docs")]),
];
