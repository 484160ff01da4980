//! Lines that send something away, and lines that only look like them.

use super::lines::{assert_decisions, confined};
use super::*;

#[test]
fn what_leaves_the_machine_asks_however_it_is_called() {
    let lines = [
        "npm publi --dry-run",
        "npm run -- deploy",
        "pnpm run -- deploy",
        "just -- deploy",
        "lerna exec -- npm publish",
        "yarn vercel --prod",
        "pnpm wrangler kv key put a b",
        "python3 -mtwine upload dist/x",
        "python3 -Im twine upload dist/x",
        "python3 -W ignore -m twine upload dist/x",
        "node ./deploy",
        "node deploy/index.js",
        "go run deploy/main.go",
        "nx run-many --target=deploy",
        "make GOAL=deploy",
        "make dep*",
        "make \"$GOAL\"",
        "npm pub*",
        "yarn p?blish",
        "cargo pub*",
        "uv pub*",
        "gem pu[s]h x.gem",
        "docker pu*",
        "docker image pu*",
        "npm run dep*",
        "npm run -- dep*",
        "npm test *",
        "pnpm run 'dep*'",
        "cargo xtask *",
        "mvn clean dep*",
        "gradle build *",
        "nx run-many --target=dep*",
        "just x:pub*",
        "cmake --build . --target dep*",
        "go run ./cmd/dep*",
        "cargo run --bin 'dep*'",
        "alembic up*",
        "python3 dep*",
        "python3 ??????",
        "./manage mig*",
        "unknown-runner de[a-z]loy",
        "docker compose pu*",
        "gradle appengineDeploy",
        "sbt sonatypeBundleRelease",
        "psql 'host = db1 dbname=x'",
        "psql -qhdb1",
        "PGHOSTADDR=10.0.0.1 psql",
        "PGSERVICE=shop psql",
        "DATABASE_URL=jdbc:postgresql://db1/x ./gradlew test",
        "DATABASE_URL='postgres://localhost/x?host=db1' npm test",
        "node seed.js --url postgres://db1.example/x",
        "./seed --url=mongodb://localhost:1,db1:2/x",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "npm run build -- --mode=production",
        "python3 -Im pytest -q",
        "make VERSION=\"$(git describe)\" all",
        "npm test src/*.ts",
        "npm run lint *.css",
        "pytest test_*",
        "npx eslint src/*",
        "go run *.go",
        "cargo run -- src/*.txt",
        "docker build .",
        "python3 tool.py *",
        "python3 \"$PWD/tool.py\"",
        "./tool *",
        "unknown-runner src*",
        "prettier --write *.md",
        "alembic revision -m \"add x\"",
        "node index.js",
        "./gradlew assembleRelease",
        "psql -qAt -h localhost -c 'select 1'",
        "DATABASE_URL=postgres://localhost/x npm test",
        "yarn vitest run",
        "grep -rn postgres://db1/x src",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn a_command_of_npm_that_is_not_listed_leaves_the_machine() {
    let lines = [
        "npm distTag add x@1.0.0 evil",
        "npm dist-tags add x@1.0.0 evil",
        "npm author add bad x",
        "npm auth add bad x",
        "npm ogr set a b",
        "npm add-user",
        "npm dePrecate x@1.0.0 bad",
        "npx npm distTag add x@1.0.0 evil",
        "npx concurrently 'npm distTag add x@1.0.0 evil'",
        "timeout 9 npm stage approve 123e4567 --otp=1",
        "npm trust github x",
        "npm --json true publish",
        "yarn tag add x@1.0.0 evil",
        "yarn npm tag add x@1.0.0 evil",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "npm cit",
        "npm clean-install",
        "npm inst",
        "npm r x",
        "npm up",
        "npm why x",
        "npm diff --diff=x@1 --diff=x@2",
        "npm repo",
        "npm find-dupes",
        "npm lint",
        "pnpm -r test",
        "pnpm typecheck:all",
        "yarn why x",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn too_many_options_in_front_of_a_sub_command_ask() {
    let line = format!("yarn {}owner add bad x", "--unknown b ".repeat(40));
    assert_decisions(&confined(), &[(line.as_str(), Decision::Ask)]);
}

#[test]
fn a_sub_command_is_found_whatever_the_options_in_front_of_it_take() {
    let lines = [
        "npm --otp 123 dist-tag add x@1.0.0 evil",
        "npm --otp 1 distTag add x@1.0.0 evil",
        "npm --fetch-retries 3 owner add bad x",
        "npm --unknown 1 owner add bad x",
        "npm --unknown owner add bad x",
        "yarn -a1 1 -b2 2 -c3 3 -d4 4 -e5 5 -f6 6 -g7 7 -h8 8 -i9 9 owner add bad x",
        "yarn --otp 1 owner add bad x",
        "yarn -w publish --non-interactive --new-version 1.0.3",
        "yarn -F publish",
        "yarn --tag publish",
        "yarn --depth publish",
        "yarn --prefix publish",
        "yarn --prefix tag add x y",
        "yarn --tag -x publish",
        "yarn -w deploy",
        "pnpm -w publish",
        "pnpm -rw publish",
        "pnpm -w deploy",
        "pnpm -w vercel",
        "bun -w vercel",
        "cargo +nightly yank x",
        "cargo +nightly install x",
        "cargo --unknown x yank y",
        "uv --unknown x publish",
        "gem -x y yank z",
        "docker --unknown x push y",
        "docker image --unknown x push y",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "npm --otp 1 test",
        "npm --no-progress run lint:all",
        "npm --foreground-scripts run lint:all",
        "npm --workspace=deploy test",
        "npm -w api run lint:all",
        "pnpm --filter profile build",
        "pnpm -F team... test",
        "pnpm -C packages/a test",
        "pnpm -w add -D zod",
        "pnpm -wr lint",
        "yarn --cwd packages/a build",
        "yarn --silent lint:all",
        "bun --filter '*' build",
        "cargo +nightly test x",
        "cargo +nightly fmt --all",
        "uv --directory packages/a run pytest",
        "cdk --verbose synth MyStack",
        "git --no-pager log -3",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn what_a_runner_runs_is_found_whatever_its_options_take() {
    let lines = [
        "npx -c='npm publish'",
        "npx -c='npm owner add bad x'",
        "npx --call='npm owner add bad x'",
        "npx --cal='npm owner add bad x'",
        "npx --cal 'npm owner add bad x'",
        "npx -yc 'npm owner add bad x'",
        "npx -yc='npm owner add bad x'",
        "npx -c=./deploy.sh",
        "npm exec -c='npm owner add bad x'",
        "pnpm -c exec 'npm owner add bad x'",
        "pnpm --shell-mode exec 'true;npm' owner add bad x",
        "npx -F npm owner add bad x",
        "npx --from npm owner add bad x",
        "npx --a 1 --b 2 --c 3 --d 4 --e 5 --f 6 --g 7 --h 8 npm owner add bad x",
        "npx --foo bar -- vercel",
        "npm explore x -- npm publish",
        "npm explore x npm owner add bad x",
        "npm explore --foo x y -- npm owner add bad x",
        "npm explore x -- 'true;npm' owner add bad x",
        "npm explore x -- ./deploy.sh",
        "npm explo x -- npm owner add bad x",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "npx prettier --check .",
        "npx -c='tsc -p .'",
        "npx -p wrangler wrangler types",
        "npx --package=typescript tsc",
        "npx --node-options=--max-old-space-size=4096 jest",
        "npx -w packages/a jest",
        "uvx --from twine twine check dist/x",
        "uv run --with requests pytest",
        "npm explore x -- npm test",
        "npm explore x",
        "pnpm exec -r tsc src",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn a_task_is_found_in_the_word_of_an_option_and_in_a_variable() {
    let lines = [
        "nox -srelease",
        "nox -Rsrelease",
        "nox -s=release",
        "nox --session=release",
        "nox --sessions=release",
        "nox --sessions=lint,release",
        "tox -epublish",
        "tox -qepublish",
        "tox -epy311,publish",
        "tox run -epublish",
        "tox r -e=publish",
        "TOXENV=publish tox",
        "NOXSESSION=release nox",
        "export TOXENV=publish; tox",
        "MAVEN_ARGS=deploy mvn",
        "npm_config_call='npm publish' npx",
        "mvn -Prelease verify",
        "mvn -Pdocs,release verify",
        "mvn --activate-profiles=release verify",
        "./gradlew build -Prelease",
        "sbt core/publish",
        "sbt Docker/publish",
        "sbt 'core / publishSigned'",
        "nx run libs/web:deploy",
        "turbo run @acme/web#deploy",
        "bazel run infra/web:push",
        "clj -X:deploy",
        "earthly --push +x",
        "./x.sh --deploy",
        "node x.js --env=production",
        "pnpm run '/^dep/'",
        "pnpm run '/x/'",
        "pnpm '/^dep/'",
        "pnpm -r run '/^dep/'",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "nox -s tests",
        "nox -stests",
        "nox -s lint -- -k deploy",
        "tox -e py311",
        "tox -e py311 -- -k release",
        "TOXENV=py311 tox",
        "mvn -q verify",
        "mvn test -Dtest=ReleaseTest",
        "mvn -T4 -DskipTests verify",
        "./gradlew test --no-daemon -Pversion=1.0",
        "sbt core/test",
        "npx nx build app --configuration=production",
        "npx nx run libs/web:build",
        "docker build --build-arg=NODE_ENV=production .",
        "docker build -t ghcr.io/a/b:release .",
        "meson setup --buildtype=release b",
        "msbuild -p:Configuration=Release x.sln",
        "dotnet run -cRelease",
        "ctest -j$(nproc)",
        "scons -j8 --release",
        "./x.sh --jobs=$(nproc)",
        "./x.sh --out=dist/release --no-push",
        "npm run build --if-present",
        "npm test -- --grep=deploy",
        "pnpm -r run build",
        "pnpm run '/x/y'",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn what_a_program_hands_on_is_judged_as_if_it_stood_alone() {
    let lines = [
        "dotenvx run -- npm publish",
        "npx @dotenvx/dotenvx run -- npm owner add bad x",
        "onchange -i -k x -- npm publish",
        "doppler run -- npm owner add bad x",
        "doppler run -- ./deploy.sh",
        "choom -n 1 -- npm owner add bad x",
        "retry -t 3 -- deploy-all",
        "tox -e x -- npm publish",
        "tox -e x -- npm owner add bad x",
        "conda run -n x npm publish",
        "conda run -n x npm owner add bad x",
        "aws-vault exec x -- aws s3 rm x",
        "terramate run -- terraform apply",
        "unknown exec -- git push origin main",
        "./x.sh a -- npm owner add bad x",
        "node x.js a -- npm owner add bad x",
        "yarn run vercel",
        "bun run npm owner add bad x",
        "pnpm run -- vercel",
        "yarn workspace a owner add bad x",
        "yarn workspace a vercel",
        "yarn workspaces foreach -A npm tag add x y",
        "yarn workspaces foreach -A exec npm owner add bad x",
        "bash x.sh --deploy",
        "./x.sh --publish",
        "python3 x.py --mode=deploy",
        "node x.js --deploy",
        "npm run build -- --publish=always",
        "cargo xtask ci --publish",
        "go run . --deploy",
        "make build PUSH=1",
        "make DEPLOY=1 test",
        "DEPLOY=1 bash x.sh",
        "bazel run //x -- --push",
        "nx build --publish",
        "bash x.sh --env=prod",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "doppler run -- npm test",
        "tox -e x -- -k deploy",
        "npm test -- src/git",
        "npm test deploy.test.ts -- --publish=never",
        "conda run -n x pytest",
        "conda install numpy",
        "yarn run tsc",
        "bun run build",
        "yarn workspace team build",
        "yarn workspaces foreach -A run build",
        "make PUSH=0 test",
        "PUSH=false ./x.sh",
        "./x.sh a -- npm test",
        "deploy=1; ls",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn a_server_that_others_use_is_found_however_it_is_written() {
    let lines = [
        "psql 'postgresql:///x?h%6fst=db.prod.example'",
        "DATABASE_URL='postgres:///x?h%6fst=prod' npx prisma migrate dev",
        "mysql -vhprod",
        "mysql -sNhprod -e x",
        "mysqladmin -fhprod drop x",
        "redis-cli -3h prod flushall",
        "cqlsh prod",
        "cqlsh prod 9042 -e x",
        "DBHOST=prod ./x.sh",
        "DJANGO_SETTINGS_MODULE=site.settings.production python3 manage.py test",
        "SPRING_PROFILES_ACTIVE=prod ./mvnw verify",
        "STAGE=prod ./x.sh",
        "git flow release finish -p -m rel 1.0",
        "git flow feature publish ff",
        "git flow publish",
        "gt submit",
        "p4 submit",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "psql 'postgres://u:p%40ss@localhost/x'",
        "mysql -uroot -phunter -h localhost -e 'select 1'",
        "redis-cli ping",
        "cqlsh -e 'select 1'",
        "cqlsh 127.0.0.1 9042",
        "DBHOST=localhost ./x.sh",
        "SPRING_PROFILES_ACTIVE=test ./mvnw verify",
        "STAGE=prod; ls",
        "git flow feature start x",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn a_shortened_name_stands_for_the_worst_that_it_may_mean() {
    let lines = [
        "gradle pub",
        "./gradlew clean pTMR",
        "gradle :app:publ",
        "gem pus x.gem",
        "gem own x -a bad",
        "bundle exe vercel",
        "npm --call='npm owner add bad x' exec",
        "npm -c='npm owner add bad x' x",
        "npm -c 'npm owner add bad x' exec",
        "npm_config_call='npm owner add bad x' npx",
        "export DEPLOY=1; bash x.sh",
        "node node_modules/npm/bin/npm-cli.js owner add bad x",
        "node .yarn/releases/yarn-4.1.0.cjs npm tag add x y",
        "node node_modules/.bin/vercel",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "./gradlew assembleProdRelease",
        "./gradlew test --tests de.acme.FooTest",
        "gradle :app:lintRelease",
        "gradle build",
        "gem install x",
        "bundle exe rspec",
        "npm --call='tsc -p .' exec",
        "node .yarn/releases/yarn-4.1.0.cjs build",
        "node node_modules/.bin/jest src",
        "python3 bin/manage run",
        "pnpm -c exec 'tsc -p .'",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn a_word_that_is_not_known_to_stay_here_asks_of_a_program_that_publishes() {
    let lines = [
        "dart pub lish -f",
        "flutter pub lush -f",
        "flutter pub token add https://example.com",
        "rebar3 hex cut -i patch",
        "rebar3 hex retire x",
        "mix hex.retire x 1.0 invalid",
        "mix do compile + hex.owner add x y",
        "pod trunk delete x 1.0",
        "pod trunk add-owner x y",
        "nuget delete x 1.0",
        "surge build example.surge.sh",
        "npx surge build x.surge.sh",
        "npx gh-pages test",
        "vercel test --prod",
        "vercel gen --yes",
        "ansible dev -m shell -a reboot",
        "ansible test -a reboot",
        "wrangler dev --remote",
        "packer build x.pkr.hcl",
        "eas build --auto-submit",
        "fastlane run deliver",
        "sls dev",
        "glab project delete g/p",
        "glab var set X y",
        "glab pipeline run",
        "glab label create x",
        "glab stack sync",
        "arc call-conduit x",
        "arc amend",
        "arc dif",
        "mvn scm:checkin -Dmessage=x",
        "mvn compile jib:build",
        "./mvnw jib:build",
        "gradle jib",
        "./gradlew jib",
        "gradle dockerPush",
        "sbt ghpagesPushSite",
        "cabal report",
        "wasm-pack publish",
        "wasm-pack login",
        "cross publish",
        "goose up-by-one",
        "alembic stamp head",
        "flask db stamp head",
        "dotnet-ef database update",
        "msbuild /t:Publish",
        "msbuild /p:DeployOnBuild=true",
        "dotnet build /t:PublishContainer",
        "rails db:seed:replant",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "dart pub get",
        "flutter pub -C app get",
        "flutter pub run build_runner build",
        "dart test",
        "rebar3 ct",
        "mix hex.info x",
        "mix hex.outdated",
        "mix do deps.get + test",
        "mix run seeds.exs",
        "pod trunk info x",
        "pod install",
        "nuget restore",
        "dotnet test",
        "vercel dev",
        "vercel build",
        "netlify dev",
        "wrangler dev",
        "sam local invoke",
        "cdk synth",
        "supabase start",
        "firebase emulators:start",
        "heroku local",
        "packer validate .",
        "fastlane test",
        "goreleaser check",
        "changeset add",
        "lerna run test",
        "glab mr view 1",
        "glab issue list",
        "glab ci status",
        "arc lint",
        "arc unit",
        "mvn verify",
        "gradle jar",
        "wasm-pack build --release",
        "cross build --release --target x",
        "msbuild /t:Build /p:Configuration=Release",
        "dotnet build /p:Configuration=Release",
        "alembic history",
        "goose status",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn the_workflow_for_boards_changes_boards_alone() {
    let session = CallingSession { id: "s1".to_owned(), workflow: "setup-viewboard".to_owned() };
    let context = Context::new("/srv/repo").with_session(Some(session));
    for (query, decision) in [
        ("query { viewer { id } }", Decision::Allow),
        (
            "mutation { createProjectV2(input: {title: \"x\"}) { projectV2 { id } } }",
            Decision::Allow,
        ),
        (
            "mutation Make($o: ID!) { a: linkProjectV2ToRepository (input: $o) { id } }",
            Decision::Allow,
        ),
        ("mutation { mergePullRequest(input: {pullRequestId: \"x\"}) { id } }", Decision::Ask),
        ("mutation { createProjectV2: mergePullRequest(input: {}) { id } }", Decision::Ask),
        (
            "mutation { updateProjectV2(input: {}) { id } b: addComment\n(input: {}) { id } }",
            Decision::Ask,
        ),
        ("mutation { mutation:mergePullRequest(input: {}) { id } }", Decision::Ask),
        ("mutation { ...mutation mergePullRequest(input: {}) { id } }", Decision::Ask),
        ("mutation { mergePullRequest # createProjectV2\n(input: {}) { id } }", Decision::Ask),
    ] {
        let call = Call::shell(&format!("gh api graphql -f query='{query}'"));
        assert_eq!(decide(&call, &context).decision, decision, "{query}");
    }
}
