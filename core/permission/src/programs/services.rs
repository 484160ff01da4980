//! Programs that talk to services: containers, clusters, clouds, the service manager.

use super::super::judge::{network, tasks, wrappers};
use super::Class::{
    Administers, Changes, Connects, Describes, Fetches, Finds, Publishes, Queries, Reveals, Runs,
};
use super::Role::{Code, Data, Read, Refused, Write};
use super::{
    Flag, ProgramEntry, attached, makes, makes_with, plain, program, publisher, stays, takes,
};

/// Where the options come from.
pub(super) const SOURCE: &str = "manuals of docker 27, kubectl 1.31, aws 2, terraform 1.9, \
                                 systemd 256";

const LISTING: &[Flag] = &[
    takes("-f --filter --format -n --last --since --until --tail", Data),
    plain(
        "-a --all -q --quiet --no-trunc -s --size -l --latest --follow -t --timestamps --details \
         --no-color --no-log-prefix --services --orphans --digests --tree",
    ),
];

/// Whoever may ask the service of containers is its master, so that lists are asked about too.
const fn asks(names: &'static str, about: &'static str) -> ProgramEntry {
    program(names, Describes, about).options(LISTING)
}

/// Sub-commands that send images or settings to a registry, or take a login to one.
const SENDS: &[ProgramEntry] = &[
    program("push publish", Publishes, "sends images").any_options(),
    program("login logout secret config trust", Reveals, "handles credentials").any_options(),
    program("context swarm node stack service plugin", Connects, "controls other machines")
        .any_options(),
];

/// A sandbox hides the socket of the service, so that whatever else a sub-command does is containable.
const COMPOSE: ProgramEntry = program("compose docker-compose", Runs, "runs containers")
    .any_options()
    .options(&[
        takes("-f --file --env-file", Read),
        takes("-p --project-name --profile --ansi --progress --parallel", Data),
        takes("--project-directory", Read),
    ])
    .subcommands(&[
        asks("ps ls images top version port", "shows containers"),
        program("logs", Describes, "shows output of containers").options(&[
            takes("-n --tail --since --until --index", Data),
            plain("-f --follow -t --timestamps --no-color --no-log-prefix"),
        ]),
        program("config", Reveals, "shows the settings")
            .options(&[
                plain("--services --images --profiles --volumes -q --quiet --no-interpolate"),
                takes("--format", Data),
            ])
            .check(network::rehearsal),
    ])
    .more_subcommands(&[SENDS])
    .otherwise(Runs);

const DOCKER: ProgramEntry = program("docker podman nerdctl", Runs, "runs containers")
    .check(wrappers::container)
    .options(&[
        makes_with("-H --host -c --context --config --url --tlscacert", Data, Connects),
        plain("-D --debug --tls"),
        takes("-l --log-level", Data),
    ])
    .subcommands(&[
        asks("ps images version info top stats port diff history", "shows containers"),
        program("logs", Describes, "shows output of containers").options(&[
            takes("-n --tail --since --until", Data),
            plain("-f --follow -t --timestamps --details"),
        ]),
        program("build buildx", Runs, "builds images")
            .any_options()
            .options(&[makes("--push", Publishes)])
            .check(tasks::task),
        program("image manifest", Runs, "controls images")
            .subcommands(&[asks("ls list", "lists what there is")])
            .more_subcommands(&[SENDS])
            .otherwise(Runs),
        COMPOSE,
    ])
    .more_subcommands(&[SENDS])
    .otherwise(Runs);

const KUBECTL: &[Flag] = &[
    takes(
        "-n --namespace -o --output -l --selector --field-selector --sort-by --tail --since \
         --since-time -c --container -L --label-columns --chunk-size --request-timeout \
         --limit-bytes",
        Data,
    ),
    // A letter without a value may have further letters behind it: `-ws ADDRESS`.
    attached("--watch --watch-only --show-labels --no-headers --show-events"),
    plain(
        "-w -A --all-namespaces -p --previous --timestamps --all-containers --prefix --ignore-errors \
         --show-kind --show-managed-fields --containers --client --short --recursive --namespaced \
         --ignore-not-found --output-watch-events",
    ),
    // Whoever chooses the configuration chooses programs that it runs.
    makes_with(
        "--kubeconfig --server --context --cluster --user --as --token --raw --template",
        Data,
        Connects,
    ),
];

/// What `get` and its kin take objects from.
const OF_FILES: &[Flag] = &[makes_with("-f --filename -k --kustomize", Data, Connects)];

const fn cluster(names: &'static str) -> ProgramEntry {
    program(names, Queries, "shows what is in a cluster").options(KUBECTL).check(network::cluster)
}

const RELEASE: &[Flag] = &[takes("-n --namespace --revision", Data)];

const RELEASES: &[Flag] = &[
    takes("-n --namespace -o --output -f --filter -m --max --offset -l --selector", Data),
    plain(
        "-A --all-namespaces -a --all -d --date -q --short -r --reverse --deployed --failed --pending \
         --superseded --uninstalled --uninstalling --no-headers",
    ),
];

pub(super) const TABLE: &[ProgramEntry] = &[
    DOCKER,
    COMPOSE,
    program("kubectl oc", Connects, "controls a cluster")
        .check(wrappers::container)
        .options(KUBECTL)
        .more_options(OF_FILES)
        .subcommands(&[
            cluster("get describe top version api-resources api-versions explain cluster-info")
                .more_options(OF_FILES),
            cluster("logs").more_options(&[
                plain("-f --follow"),
                takes("--max-log-requests --pod-running-timeout", Data),
            ]),
            program("rollout", Connects, "changes what runs")
                .subcommands(&[
                    cluster("status history").more_options(&[takes("--revision --timeout", Data)])
                ])
                .otherwise(Connects),
            program("auth", Connects, "handles rights")
                .subcommands(&[cluster("can-i whoami").more_options(&[plain("--list -q --quiet")])])
                .otherwise(Connects),
            program("config", Reveals, "handles credentials")
                .subcommands(&[cluster("current-context get-contexts get-clusters")])
                .otherwise(Reveals),
            program("kustomize", Fetches, "puts files together")
                .options(&[takes("-o --output", Write), plain("--enable-helm --reorder")]),
            program("create apply", Connects, "changes what runs")
                .options(&[
                    takes("--dry-run -n --namespace -o --output --validate", Data),
                    takes("-f --filename -k --kustomize", Read),
                    takes("--image --replicas --port --schedule --from-literal", Data),
                    plain("-R --recursive"),
                ])
                .check(network::rehearsal),
        ])
        .otherwise(Connects),
    program("minikube kind k3s crictl ctr lxc buildah skopeo", Connects, "controls containers")
        .any_options()
        .check(wrappers::container),
    program("helm", Connects, "controls a cluster")
        .any_options()
        .subcommands(&[
            program("template lint show create version env", Runs, "reads charts").any_options(),
            program("dependency dep pull search", Fetches, "fetches charts").any_options(),
            program("list ls history", Queries, "shows releases").options(RELEASES),
            // The other forms show the values of the release.
            program("status", Queries, "shows a release").options(RELEASE),
            program("repo", Connects, "changes where charts come from")
                .subcommands(&[program(
                    "list ls update up",
                    Fetches,
                    "asks where charts come from",
                )])
                .otherwise(Connects),
        ])
        .otherwise(Connects),
    program("terraform tofu", Runs, "changes infrastructure")
        .options(&[makes_with("-chdir", Code, Changes)])
        .subcommands(&[
            program("version", Queries, "shows the version").options(&[plain("-json")]),
            program("fmt", Finds, "formats files")
                .operands(&[Write])
                .options(&[attached("-list -write -diff -check -recursive -no-color")]),
            program("validate init get", Fetches, "fetches and runs providers")
                .any_options()
                .options(&[
                    makes_with("-backend-config -plugin-dir", Data, Runs),
                    makes_with("-from-module", Data, Connects),
                ]),
            // Its own sub-commands write, or ask servers.
            program("providers", Fetches, "asks where the state is, and lists providers")
                .operands(&[Refused]),
            program("graph", Fetches, "draws what the files say").any_options(),
            program("state", Publishes, "changes the state")
                .subcommands(&[program("list", Fetches, "lists names of the state").any_options()])
                .otherwise(Publishes),
            program("workspace", Publishes, "changes workspaces")
                .subcommands(&[program("list show", Fetches, "lists workspaces").any_options()])
                .otherwise(Publishes),
            program("plan show output console", Reveals, "shows state, which holds secrets")
                .any_options(),
        ])
        .otherwise(Publishes),
    program("aws awscli", Connects, "talks to a cloud").any_options().check(network::cloud),
    program("ansible ansible-playbook", Publishes, "changes infrastructure")
        .any_options()
        .options(&[plain("--syntax-check --list-tasks --list-tags --list-hosts")])
        .check(network::rehearsal),
    publisher("pulumi tilt", &[stays("version")]),
    publisher("vagrant packer", &[stays("validate status version")]),
    publisher("serverless sls", &[stays("offline")]),
    publisher("sam", &[stays("build validate local list")]),
    publisher("cdk", &[stays("synth synthesize diff ls list")]),
    publisher("flyctl fly", &[stays("status version")]),
    publisher("heroku", &[stays("local status version")]),
    publisher("vercel vc now", &[stays("dev build ls list")]),
    publisher("netlify", &[stays("dev build status")]),
    publisher("wrangler", &[stays("dev types check").options(&[makes("-r --remote", Publishes)])]),
    publisher("firebase", &[stays("emulators:start")]),
    publisher("supabase", &[stays("start stop status gen test")]),
    publisher("railway", &[stays("status list")]),
    publisher("skaffold", &[stays("dev build diff test version")]),
    program("gcloud az doctl gsutil s3cmd rclone mc", Connects, "talks to a cloud").any_options(),
    program("systemctl", Administers, "controls services")
        .options(&[
            takes("-t --type --state -n --lines -o --output", Data),
            plain("--no-pager -l --full -a --all -q --quiet --user --system --no-legend --plain"),
            makes_with("-H --host -M --machine", Data, Connects),
            makes_with("--root --image -p --property", Data, Administers),
        ])
        .subcommands(&[program(
            "status is-active is-failed is-system-running list-units list-unit-files \
             list-timers list-sockets list-dependencies list-jobs get-default",
            Queries,
            "shows services",
        )
        .options(&[
            takes("-t --type --state -n --lines -o --output", Data),
            plain("--no-pager -l --full -a --all -q --quiet --user --system --no-legend --plain"),
        ])])
        .otherwise(Administers),
    program("journalctl", Describes, "shows logs of the machine").any_options(),
    program("sqlite3 duckdb", Runs, "queries a database in a file").any_options(),
    program(
        "psql createdb dropdb pg_dump pg_restore pg_isready mysql mariadb mysqldump mysqladmin \
         redis-cli mongo mongosh sqlcmd cqlsh influx",
        Connects,
        "queries a database",
    )
    .any_options()
    .options(&[takes("-h --host -S --eval", Data)])
    .check(network::database),
    publisher("argocd", &[stays("version")]),
    publisher("flux", &[stays("version build")]),
    publisher("istioctl", &[stays("version validate manifest")]),
    publisher("eksctl kops", &[stays("version")]),
    publisher("nomad", &[stays("version fmt")]),
    publisher("waypoint", &[stays("version fmt")]),
    publisher("werf", &[stays("version build render lint")]),
    publisher("helmfile", &[stays("version template lint build deps fetch list")]),
    publisher("airflow", &[stays("version standalone")]),
    publisher("convex", &[stays("dev codegen docs")]),
    publisher("strapi", &[stays("develop dev build start generate console version new")]),
    publisher("chezmoi", &[stays("diff status managed doctor")]),
    publisher("wandb", &[stays("offline status")]),
    publisher("sst", &[stays("dev version diff")]),
    publisher("kamal mina", &[stays("version docs init")]),
    publisher("codecov codecovcli coveralls chromatic percy", &[stays("version")]),
    publisher("cosign notation", &[stays("version verify")]),
    publisher("ko", &[stays("version")]),
    program(
        "hcloud linode-cli bq snowsql neonctl neon contentful claudia kaggle s4cmd s5cmd ncftpput slack \
         steamcmd localtunnel lt",
        Connects,
        "talks to a service",
    )
    .any_options(),
];
