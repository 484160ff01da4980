//! Names of tasks: which say that something leaves the machine, and which only have such a word in them.

use super::lines::{assert_decisions, confined};
use super::*;

#[test]
fn a_word_that_leaves_counts_wherever_it_stands_in_the_name_of_a_task() {
    let lines = [
        "npm run build-and-deploy",
        "npm run build:prod",
        "yarn build:release",
        "yarn start:prod",
        "npm run dev:prod",
        "npm run lint:migrations",
        "npm run check_deploy",
        "pnpm test:deploy",
        "turbo run build:prod",
        "npm run build_and_publish",
        "npm run test-then-release",
        "npm run buildAndRelease",
        "npm run build:deploy",
        "npm run build_n_release",
        "npm run build-to-prod",
        "npm run start-release",
        "npm run coverage:upload",
        "npm run types:publish",
        "npm run create-migration-run",
        "turbo run docker:push",
        "npm run build-push",
        "npm run release:notes",
        "npm run deploy:test",
        "npm run prod",
        "npm run app:prod",
        "make release-build",
        "./gradlew closeAndReleaseStagingRepository",
        "./gradlew githubRelease",
        "./gradlew dockerPushImage",
        "./gradlew cargoRedeployRemote",
        "./gradlew AWSDeploy",
        "./gradlew bootBuildImage --publishImage",
        "./gradlew :app:publish",
        "./gradlew publishToMavenCentral",
        "sbt s3Upload",
        "sbt sonaRelease",
        "mvn tomcat7:redeploy",
        "mvn spring-boot:build-image -Dspring-boot.build-image.publish=true",
        "npm run codepush",
        "npm run sync:s3",
        "npm run go-live",
        "npm run gh-pages",
        "npm run pub",
        "just ota",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "npm run test:release-notes",
        "./gradlew :deploy:test",
        "./gradlew assembleRelease",
        "./gradlew bundleProdRelease testReleaseUnitTest",
        "./gradlew spotlessApply",
        "./gradlew publishToMavenLocal",
        "sbt publishLocal",
        "sbt publishM2",
        "mvn verify -Dmaven.deploy.skip=true",
        "python3 scripts/gen_release_notes.py",
        "cargo run -p deploy -- --help",
        "npm run live-reload",
        "go run ./cmd/kill",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn what_chooses_tests_is_no_name_of_a_task() {
    let lines = [
        "./gradlew test -t deploy",
        "bazel test -k //x:push",
        "nx run-many -t deploy",
        "just -k deploy",
        "gradle test --tests X deploy",
        "npm test --filter x -- --publish",
        "npm start -- deploy",
        "dbmate --migrations-dir x migrate",
        "sqlx migrate run --database-url \"$URL\" --source sqlite:x",
        "npm run check --deploy -- --deploy",
        "dotnet publish -p:PublishProfile=x",
        "dotnet publish /t:PublishContainer",
        "dotnet nuget push x.nupkg",
        "cargo publish",
        "cargo publish --dry-run=false",
        "npm publish --dry-run --no-dry-run",
        "npm publish --dry-run=false",
        "yarn publish --dry-run",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "npm test -- deploy",
        "yarn test -t deploy",
        "./gradlew test --tests '*ReleaseTest'",
        "swift test --filter PublishTests",
        "dotnet test --filter Publish",
        "php artisan test --filter=PublishTest",
        "turbo build --filter=deploy",
        "python3 manage.py test -k deploy",
        "python3 manage.py check --deploy",
        "dotnet publish -c Release -o out",
        "dotnet nuget list source",
        "cargo publish --dry-run",
        "cargo package --list",
        "npm publish --dry-run",
        "pnpm publish --dry-run",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn a_migration_is_contained_where_it_is_written_or_has_a_database_of_the_checkout() {
    let lines = [
        "alembic upgrade head",
        "rails db:migrate",
        "RAILS_ENV=test rails db:migrate; rails db:migrate",
        "RAILS_ENV=test; rails db:migrate",
        "RAILS_ENV=staging rails db:migrate",
        "RAILS_ENV=test DATABASE_URL=\"$URL\" rails db:migrate",
        "RAILS_ENV=test npm run deploy",
        "RAILS_ENV=test rake db:migrate deploy",
        "RAILS_ENV=test npm run migrate-and-deploy",
        "RAILS_ENV=test rails db:migrate --env production",
        "MIX_ENV=test migrate-tool deploy",
        "RAILS_ENV=test rails db:migrate RAILS_ENV=production",
        "MIX_ENV=prod mix ecto.migrate",
        "DATABASE_URL=postgres://db1/x alembic upgrade head",
        "sqlx migrate run",
        "npx typeorm schema:sync",
        "npx mikro-orm schema:update --run",
        "npm run migrate-and-add",
        "npm run create-migrate",
        "knex migrate:latest",
        "diesel database reset",
        "cargo sqlx database reset",
        "dbmate up",
        "go run github.com/pressly/goose/v3/cmd/goose@latest up",
        "uv run aerich upgrade",
        "php artisan migrate:fresh",
        "php artisan migrate:reset",
        "python3 manage.py flush --noinput",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "DATABASE_URL=sqlite:///./test.db alembic upgrade head",
        "sqlx migrate run --database-url sqlite://dev.db",
        "bundle exec rake db:migrate RAILS_ENV=test",
        "RAILS_ENV=test rails db:migrate",
        "env MIX_ENV=test mix ecto.reset",
        "npx knex migrate:latest --env test",
        "rails generate migration AddX x:string",
        "rails g migration AddX",
        "mix ecto.gen.migration add_x",
        "npx knex migrate:make add_x",
        "npx typeorm migration:generate src/x",
        "sqlx migrate add x",
        "cargo sqlx migrate add x",
        "diesel migration generate x",
        "php artisan make:migration x",
        "just makemigrations",
        "flask db migrate -m x",
        "uv run aerich migrate",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn a_word_that_is_not_known_counts_where_the_name_of_a_task_stands() {
    let lines = [
        "npm run \"$X\"",
        "yarn run \"$X\"",
        "gradle build \"$X\"",
        "just \"$X\"",
        "cargo xtask \"$X\"",
        "python3 manage.py \"$X\"",
        "php artisan \"$X\"",
        "mytool \"deploy-$X\"",
        "mytool run \"$X\"",
        "nx run-many -t \"$X\"",
        "turbo run build \"$X\"",
        "yarn workspace a \"$X\"",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "python3 -m py_compile \"$f\"",
        "jstack $(pgrep -f MyApp)",
        "mytool \"$f\"",
        "python3 tool.py \"$f\"",
        "./tool.sh \"$f\"",
        "nx test \"$app\"",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
}

#[test]
fn a_program_that_publishes_is_found_by_its_other_names_and_behind_a_script() {
    let lines = [
        "npx eas-cli submit -p ios",
        "npx @expo/eas-cli@latest update",
        "npx vc --prod",
        "npx now",
        "npx hexo d",
        "npx hexo g -d",
        "npx auto shipit",
        "uvx ghp-import -p docs",
        "python3 -m ghp_import -p docs",
        "python3 -m awscli s3 sync a s3://b",
        "npm run cdk -- deploy",
        "npm run sst -- deploy",
        "turbo run cdk -- deploy",
        "npm run prisma -- migrate deploy",
        "npm run supabase -- db push",
        "argocd app sync x",
        "helmfile sync",
        "nomad job run x.nomad",
        "hcloud server create",
        "npx localtunnel --port 3000",
        "cargo ws version patch",
        "uvx tbump 1.2.3",
        "npx web-ext sign",
        "kamal setup",
        "unknown-tool copy dist s3://bucket/x",
        "unknown-tool --to=gs://bucket/x",
        "unknown-tool dist deployer@web1:/srv/x",
        "unknown-tool --prod",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
    let lines = [
        "npx hexo g",
        "npx web-ext lint",
        "npm run cdk -- synth",
        "npm run prisma -- generate",
        "npm run eslint -- --fix src",
        "helmfile template",
        "npx convex dev",
        "npx ng build --prod",
        "unknown-tool git@github.com:a/b",
        "docker compose exec web pytest",
        "docker compose exec -T -u root web python3 manage.py test",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Allow)));
    let lines = [
        "docker compose exec web npm publish",
        "docker compose exec -u root web npm publish",
        "docker compose exec --unknown x web npm publish",
    ];
    assert_decisions(&confined(), &lines.map(|line| (line, Decision::Ask)));
}

#[test]
fn a_reason_names_the_word_that_decided() {
    for (line, reason) in [
        (
            "rails db:migrate",
            "`rails` gets the name `migrate`, which says that it changes a database",
        ),
        (
            "npm run deploy",
            "`npm run` gets the name `deploy`, which says that it leaves the machine",
        ),
        (
            "knex migrate:latest",
            "`knex` gets the name `migrate`, which says that it changes a database",
        ),
        ("make sync-s3", "`make` gets the name `s3`, which says that it leaves the machine"),
        ("npm run \"$X\"", "`npm run` runs a task whose name is not known"),
    ] {
        assert_eq!(decide(&Call::shell(line), &confined()).reason, reason, "{line}");
    }
}
