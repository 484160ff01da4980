//! Programs that build, test and check.

use super::super::judge::tasks;
use super::Class::{Builds, Connects, Deletes, Finds, Installs, NamesCode, Runs};
use super::Role::{Code, Data, Name, Word, Write};
use super::{ProgramEntry, attached, makes, makes_with, plain, program, takes};

/// Where the options come from.
pub(super) const SOURCE: &str = "manuals of GNU make 4.4, ninja 1.12, cmake 3.31, pytest 8, \
                                 gcc 14, ruff 0.8, shfmt 3.10";

pub(super) const TABLE: &[ProgramEntry] = &[
    program("make gmake", Builds, "builds with the project's makefile")
        .options(&[
            takes("-C --directory", Write),
            attached("-j --jobs -l --load-average -O --output-sync"),
            plain(
                "-k --keep-going -s --silent --quiet -B --always-make -n --dry-run \
                 --no-print-directory -q --question -w --print-directory -i --ignore-errors \
                 --trace --version",
            ),
            makes_with(
                "-f --file --makefile -I --include-dir --eval -E -W --what-if -o --old-file",
                Data,
                NamesCode,
            ),
            makes("-e --environment-overrides", NamesCode),
        ])
        .operands(&[Name])
        .check(tasks::make),
    program("ninja samu", Builds, "builds what was configured")
        .options(&[
            takes("-C", Write),
            takes("-j -k -l -d -w", Data),
            plain("-v --verbose -n --quiet --version"),
            makes_with("-f -t", Data, NamesCode),
        ])
        .check(tasks::ninja),
    program("cmake", Builds, "configures and builds")
        .options(&[
            takes("-S -B --open", Write),
            takes("-G -T -A -j --parallel -t --target --config --preset --log-level", Data),
            takes("-D", Data),
            plain(
                "--build --fresh --clean-first -v --verbose --list-presets -N -L -LA -LH \
                 --version -Wdev -Wno-dev",
            ),
            makes_with(
                "-E -P -C --toolchain --workflow -U --find-package --graphviz \
                 --trace-redirect --system-information --debugger-pipe --install-prefix \
                 --project-file --profiling-output",
                Data,
                Runs,
            ),
            makes_with("--install", Data, Installs),
        ])
        .check(tasks::cmake),
    program("mvn mvnw", Runs, "builds with Maven")
        .any_options()
        .options(&[
            makes_with("-f --file -s --settings -gs --global-settings -t", Data, NamesCode),
        ])
        .check(tasks::task),
    program("gradle gradlew", Runs, "builds with Gradle")
        .any_options()
        .options(&[
            makes_with("-b --build-file -c --settings-file -I --init-script", Data, NamesCode),
            takes("-p --project-dir", Code),
        ])
        .check(tasks::task),
    program("just task", Runs, "runs the project's own tasks")
        .any_options()
        .options(&[
            makes_with("-f --justfile --taskfile --shell", Data, NamesCode),
            takes("-d --working-directory --dir", Code),
        ])
        .operands(&[Name, Data])
        .check(tasks::task),
    program(
        "ctest meson bazel bazelisk buck scons waf rake ant sbt xcodebuild msbuild nox tox invoke \
         grunt gulp turbo nx lage rails mage xcrun hardhat truffle",
        Runs,
        "runs the project's own tasks",
    )
    .any_options()
    .options(&[
        makes_with("--file --buildfile --rakefile --output_user_root", Data, NamesCode),
        takes("--test-dir --project-dir --directory", Code),
    ])
    .check(tasks::task),
    program("pytest py.test", Runs, "runs the tests")
        .options(&[
            makes_with(
                "-p -o --override-ini --import-mode --pdbcls --debug",
                Data,
                NamesCode,
            ),
            makes_with("--pastebin", Data, Connects),
            takes("-c --config-file --rootdir --confcutdir", Code),
            makes_with("--basetemp", Write, Deletes),
            takes("--junitxml --junit-xml --log-file --report-log --cov-config", Write),
            takes(
                "-k -m -n --maxfail --durations --durations-min --cov --tb -W --pythonwarnings \
                 --timeout --cov-fail-under --color --capture --show-capture --log-level \
                 --log-cli-level --verbosity --numprocesses --dist --reruns --ignore --ignore-glob \
                 --deselect --last-failed-no-failures --asyncio-mode --lfnf --count --randomly-seed",
                Data,
            ),
            takes("--cov-report", Word),
            plain(
                "-x -v -vv -vvv -q -s -l -rA -ra --exitfirst --verbose --quiet --showlocals --lf \
                 --last-failed --ff --failed-first --nf --new-first --sw --stepwise \
                 --stepwise-skip --co --collect-only --strict-markers --strict-config --markers \
                 --fixtures --no-header --no-summary --no-cov --cov-append --cov-branch --pdb \
                 --trace --full-trace --runxfail --cache-show --setup-show --setup-only \
                 --disable-warnings --disable-pytest-warnings --doctest-modules --benchmark-skip \
                 --version --help -h",
            ),
            attached("-r --cache-clear"),
        ])
        .operands(&[Code]),
    program(
        "jest vitest mocha ava playwright cypress phpunit rspec nextest gotestsum \
         tap nose2",
        Runs,
        "runs the tests",
    )
    .any_options()
    .options(&[
        makes_with(
            "-p --override-ini --require --import --loader --setupFiles --runner --globalSetup \
             --bootstrap",
            Data,
            NamesCode,
        ),
        makes_with("--pastebin", Data, Connects),
        takes("-c --config --config-file --rootdir --rootDir --confcutdir --dir --root", Code),
        takes(
            "--basetemp --junitxml --junit-xml --log-file --debug-file --outputFile --output \
             --coverageDirectory --cacheDirectory --cov-config",
            Write,
        ),
        takes("-k -m -n --maxfail --durations --cov --tb -W -t --testNamePattern --timeout", Data),
        // These are no beginnings of the names above.
        plain("-x -v -q -s --lf --ff -vv -l --pdb --coverage --run --debug"),
    ])
    .operands(&[Code]),
    program("ruff", Runs, "checks and formats Python")
        .options(&[plain("-q --quiet -v --verbose"), takes("--config", Code)])
        .subcommands(&[
            program("check format", Runs, "checks and formats Python")
                .operands(&[Write])
                .options(&[
                    takes("--config", Code),
                    takes("-o --output-file --cache-dir", Write),
                    takes(
                        "--select --ignore --extend-select --extend-ignore --output-format \
                         --target-version --exclude --line-length --fixable --unfixable --range",
                        Data,
                    ),
                    plain(
                        "--fix --unsafe-fixes --no-fix --diff --check --preview -q --quiet -v \
                         --verbose --statistics -e --exit-zero -n --no-cache --isolated \
                         --show-fixes --watch -w --show-files",
                    ),
                ]),
            program("rule version config linter", Runs, "explains itself")
                .options(&[takes("--output-format", Data), plain("--all")]),
        ]),
    program("shfmt", Finds, "formats files").operands(&[Write]).options(&[
        takes("-i --indent -ln --language-dialect", Data),
        plain("-l --list -d --diff -w --write -s --simplify -ci -bn -sr -kp -fn"),
    ]),
    program("rustfmt", Runs, "formats files")
        .operands(&[Write])
        .options(&[
            takes("--edition --color --emit --style-edition", Data),
            takes("--config-path", Code),
            makes_with("--config", Data, NamesCode),
            plain("-l --check -v --verbose -q --quiet"),
        ]),
    program(
        "tsc eslint prettier black isort mypy pyright flake8 pylint shellcheck clang-format \
          clang-tidy golangci-lint stylelint biome oxlint webpack vite esbuild rollup babel",
        Runs,
        "checks or changes code, with plugins of the project",
    )
    .any_options()
    .options(&[
        makes_with(
            "--plugin --plugins --resolve-plugins-relative-to --rulesdir --load-plugins \
             --require --import --python-executable --parser -load --preset",
            Data,
            NamesCode,
        ),
        takes("-c --config --config-file --rcfile -p --project", Code),
        takes("-o --output --output-file --outDir --outfile --cache-location", Write),
    ]),
    program(
        "gcc g++ cc c++ clang clang++ ld ar as nasm javac java kotlinc scalac ghc ocamlfind zig \
         nim dmd gfortran",
        Runs,
        "compiles or runs code",
    )
    .any_options()
    .options(&[
        takes("-o", Write),
        makes_with("-B -specs -wrapper -fplugin -fuse-ld -Xclang", Data, NamesCode),
    ]),
];
