/** Metrics in the text format of Prometheus, for its textfile collector. Times are in seconds, and samples have no time. */
import type { FailedRun, Verdict } from "../../../alarms/verdict.ts"
import type { Facts } from "../../../alarms/facts.ts"
import type { KnownAlarm } from "../../../alarms/state.ts"
import type { RunResource } from "../../../values/run-resource.ts"
import { levelWords } from "../../../values/finding.ts"
import { sluiceVersion } from "../../../values/version.ts"

interface Metric {
  readonly name: string
  readonly help: string
  readonly samples: ReadonlyArray<{ readonly labels?: Readonly<Record<string, string>>; readonly value: number }>
}

export const metricsText = (
  facts: Facts,
  {
    alarms,
    failed,
    verdict
  }: { readonly alarms: ReadonlyArray<KnownAlarm>; readonly failed: FailedRun | undefined; readonly verdict: Verdict }
): string => {
  const metrics: ReadonlyArray<Metric> = [
    { name: "sluice_info", help: "Version of sluice.", samples: [{ labels: { version: sluiceVersion }, value: 1 }] },
    ...ofLastRun(facts, failed),
    {
      name: "sluice_complete_timestamp_seconds",
      help: "When the last complete reading of a resource ended.",
      samples: facts.readings.flatMap(({ completeAt, location, resource }) =>
        completeAt === undefined ? [] : [{ labels: { location, resource }, value: completeAt / 1000 }]
      )
    },
    {
      name: "sluice_resources",
      help: "Resources that are wanted.",
      samples: verdict.locations.map(({ location, of }) => ({ labels: { location }, value: of }))
    },
    {
      name: "sluice_resources_complete",
      help: "Resources that are wanted and complete.",
      samples: verdict.locations.map(({ complete, location }) => ({ labels: { location }, value: complete }))
    },
    ...ofTargets(facts),
    ...ofAlarms(alarms.filter(({ silenced }) => silenced === undefined))
  ]
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .flatMap(lines)
    .join("")
}

const ofLastRun = ({ readings, syncs }: Facts, failed: FailedRun | undefined): ReadonlyArray<Metric> => {
  const last = syncs.find(({ finishedAt }) => finishedAt !== undefined)
  const good = syncs.find(({ exitCode }) => exitCode === 0)
  const isFailed = failed !== undefined && failed.at >= (last?.finishedAt ?? 0)
  const sum = (count: (reading: RunResource) => number) =>
    readings.reduce((all, { last: own }) => all + (own && own.run === last?.id ? count(own) : 0), 0)
  const known = (value: number | undefined) => (value === undefined ? [] : [{ value }])
  return [
    {
      name: "sluice_last_run_exit_code",
      help: "Exit code of the last sync.",
      samples: known(isFailed ? failed.exitCode : last?.exitCode)
    },
    {
      name: "sluice_last_run_timestamp_seconds",
      help: "When the last sync ended.",
      samples: known(seconds(isFailed ? failed.at : last?.finishedAt))
    },
    {
      name: "sluice_last_success_timestamp_seconds",
      help: "When the last sync with exit code 0 ended.",
      samples: known(seconds(good?.finishedAt))
    },
    {
      name: "sluice_last_run_duration_seconds",
      help: "How long the last sync took.",
      samples: last?.finishedAt === undefined ? [] : [{ value: (last.finishedAt - last.startedAt) / 1000 }]
    },
    {
      name: "sluice_last_run_requests",
      help: "Requests that the last sync sent.",
      samples: known(last?.requests)
    },
    {
      name: "sluice_last_run_rows",
      help: "Rows that the last sync changed, by kind of change.",
      samples: last
        ? [
            { labels: { change: "new" }, value: sum(({ newRows }) => newRows) },
            { labels: { change: "changed" }, value: sum(({ changedRows }) => changedRows) },
            { labels: { change: "deleted" }, value: sum(({ deletedRows }) => deletedRows) }
          ]
        : []
    },
    {
      name: "sluice_last_run_rejects",
      help: "Values and records that the last sync rejected.",
      samples: last ? [{ value: sum(({ rejected }) => rejected) }] : []
    }
  ]
}

const ofTargets = ({ targets }: Facts): ReadonlyArray<Metric> => [
  {
    name: "sluice_target_delivered_timestamp_seconds",
    help: "When a target last got the tables, or was found to have them.",
    samples: targets.flatMap(({ name, deliveredAt }) =>
      deliveredAt === undefined ? [] : [{ labels: { target: name }, value: deliveredAt / 1000 }]
    )
  },
  {
    name: "sluice_target_failed",
    help: "1 if a target does not get what is new.",
    samples: targets.map(({ name, failedSince }) => ({
      labels: { target: name },
      value: failedSince === undefined ? 0 : 1
    }))
  }
]

const levels = ["warning", "wrong"] as const

const ofAlarms = (active: ReadonlyArray<KnownAlarm>): ReadonlyArray<Metric> => [
  {
    name: "sluice_alarms",
    help: "Alarms that are not silenced, by level.",
    samples: levels.map((level) => ({
      labels: { level: levelWords.alarms[level] },
      value: active.filter((one) => one.level === level).length
    }))
  },
  {
    name: "sluice_alarm_since_timestamp_seconds",
    help: "When an alarm began that is not silenced.",
    samples: active.map((one) => ({
      labels: { alarm: one.where, level: levelWords.alarms[one.level] },
      value: one.since / 1000
    }))
  }
]

const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000

const lines = ({ name, help, samples }: Metric): ReadonlyArray<string> => [
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`,
  ...samples.map(({ labels, value }) => `${name}${labels ? labelText(labels) : ""} ${value}\n`)
]

const labelText = (labels: Readonly<Record<string, string>>): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replaceAll(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`)
    .join(",")}}`
