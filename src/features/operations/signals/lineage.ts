/** A run as events of OpenLineage: one job for the run, and one for each table that it reads. */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import type { Catalogue } from "../../../catalog/discover.ts"
import type { Resource } from "../../../catalog/resource.ts"
import { type Table, tablesOf } from "../../../catalog/tables.ts"
import type { Loaded, RunEvent } from "../../../values/run-event.ts"
import { isWhole } from "../../../values/state.ts"
import { sluiceVersion } from "../../../values/version.ts"

export interface LineageEvent {
  readonly run: { readonly runId: string; readonly facets: object }
  readonly [field: string]: unknown
}

type EventType = "START" | "COMPLETE" | "FAIL" | "ABORT"

interface Job {
  readonly name: string
  readonly runId: string
  readonly locations: Set<string>
  /** Why its readings could not go on. */
  readonly reasons: Set<string>
  isEnded: boolean
}

/** How the run ended; `text` has no words of the service. */
export interface RunEnd {
  readonly type: Exclude<EventType, "START">
  readonly text: string
}

interface Subject {
  readonly command: string
  readonly namespace: string
  readonly catalogue: Pick<Catalogue, "resources">
  /** The addresses of the API, by location. */
  readonly baseUrls: ReadonlyMap<string, string>
  /** The folder of the output. */
  readonly output: string
}

const producer = `pkg:generic/sluice@${sluiceVersion}`
const specification = "https://openlineage.io/spec"

/** Each method returns the events that follow. */
export class RunLineage {
  readonly #subject: Subject
  readonly #run: Job
  readonly #jobs = new Map<string, Job>()

  constructor(subject: Subject) {
    this.#subject = subject
    this.#run = newJob(subject.command)
  }

  start(): ReadonlyArray<LineageEvent> {
    return [this.#event("START", this.#run)]
  }

  after(event: RunEvent): ReadonlyArray<LineageEvent> {
    switch (event.event) {
      case "resourceStarted":
        return this.#started(tableOf(event.resource), event.location)
      case "resourceFinished":
        if (event.reason) this.#jobs.get(tableOf(event.resource))?.reasons.add(event.reason)
        return []
      case "loaded":
        return this.#loaded(event)
      default:
        return []
    }
  }

  /** Tables whose end is unknown have ended as the run, but they are not complete. */
  end({ type, text }: RunEnd): ReadonlyArray<LineageEvent> {
    const open = [...this.#jobs].filter(([, { isEnded }]) => !isEnded)
    return [
      ...open.map(([table, job]) => this.#ended(table, job, type === "FAIL" ? "FAIL" : "ABORT")),
      this.#event(type, this.#run, type === "FAIL" ? errorFacet(text) : {})
    ]
  }

  #started(table: string, location: string): ReadonlyArray<LineageEvent> {
    const known = this.#jobs.get(table)
    const job = known ?? newJob(`${this.#subject.command}.${table}`)
    this.#jobs.set(table, job)
    job.locations.add(location)
    return known ? [] : [this.#event("START", job, {}, this.#inputs(table, job), this.#outputs(table))]
  }

  #loaded({ resources }: Loaded): ReadonlyArray<LineageEvent> {
    const tables = new Set(resources.map(({ resource }) => tableOf(resource)))
    return [...tables].flatMap((table) => {
      const rows = resources.filter(({ resource }) => tableOf(resource) === table)
      const started = rows.flatMap(({ location }) => this.#started(table, location))
      const job = this.#jobs.get(table)!
      const isComplete = rows.every(({ status }) => isWhole(status))
      const type = isComplete ? "COMPLETE" : job.reasons.has("retryLater") ? "ABORT" : "FAIL"
      const written = rows.reduce((sum, { newRows, changedRows }) => sum + newRows + changedRows, 0)
      return [...started, this.#ended(table, job, type, written)]
    })
  }

  #ended(table: string, job: Job, type: RunEnd["type"], written?: number): LineageEvent {
    job.isEnded = true
    // What the service answered may contain personal data, so it stays on this machine.
    const why = job.reasons.has("forbidden")
      ? "The token may not read this resource."
      : "The reading is incomplete; ./sluice status says why."
    const error = type === "FAIL" ? errorFacet(why) : {}
    return this.#event(type, job, error, this.#inputs(table, job), this.#outputs(table, written))
  }

  #event(
    eventType: EventType,
    job: Job,
    facets: object = {},
    inputs: ReadonlyArray<object> = [],
    outputs: ReadonlyArray<object> = []
  ): LineageEvent {
    const { namespace } = this.#subject
    const parent = { run: { runId: this.#run.runId }, job: { namespace, name: this.#run.name } }
    return {
      eventType,
      eventTime: new Date().toISOString(),
      producer,
      schemaURL: `${specification}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
      run: {
        runId: job.runId,
        facets: {
          processing_engine: facet("1-1-1/ProcessingEngineRunFacet", { name: "sluice", version: sluiceVersion }),
          ...(job !== this.#run && { parent: facet("1-2-0/ParentRunFacet", parent) }),
          ...facets
        }
      },
      job: {
        namespace,
        name: job.name,
        facets: {
          jobType: facet("2-0-4/JobTypeJobFacet", {
            processingType: "BATCH",
            integration: "SLUICE",
            jobType: job === this.#run ? "JOB" : "TASK"
          })
        }
      },
      inputs,
      outputs
    }
  }

  /** The resource in the API, of each location. */
  #inputs(table: string, { locations }: Job): ReadonlyArray<object> {
    return [...locations].map((location) => ({
      namespace: this.#subject.baseUrls.get(location) ?? "",
      name: `${location}/${table}`
    }))
  }

  /** The table of the records and its child tables, in the published file, which others read. */
  #outputs(table: string, written?: number): ReadonlyArray<object> {
    const resource = this.#subject.catalogue.resources.find((one) => one.table === table)
    return (resource ? tablesOf(resource) : []).map((one) => ({
      namespace: `duckdb://${join(this.#subject.output, "published", "crm.duckdb")}`,
      name: `crm.crm.${one.name}`,
      ...(written !== undefined && { facets: datasetFacets(one) }),
      ...(written !== undefined &&
        one.name === table && {
          outputFacets: {
            outputStatistics: facet("1-0-2/OutputStatisticsOutputDatasetFacet", { rowCount: written })
          }
        })
    }))
  }
}

const datasetFacets = ({ columns, description }: Table): object => ({
  documentation: facet("1-1-0/DocumentationDatasetFacet", { description }),
  schema: facet("1-2-0/SchemaDatasetFacet", {
    fields: columns.map((column, index) => ({
      name: column.name,
      type: column.sql,
      description: column.description,
      ordinal_position: index + 1
    }))
  })
})

const facet = (schema: string, fields: object): object => ({
  _producer: producer,
  _schemaURL: `${specification}/facets/${schema}.json#/$defs/${schema.split("/")[1]}`,
  ...fields
})

const errorFacet = (message: string): object => ({
  errorMessage: facet("1-0-1/ErrorMessageRunFacet", { message, programmingLanguage: "TypeScript" })
})

/** The table of a label of children or details. */
const tableOf = (label: string): Resource["table"] => label.split("/")[0]!

/** Ids are UUIDs of version 7, which sort by time. */
const newJob = (name: string): Job => {
  const time = Date.now().toString(16).padStart(12, "0")
  const runId = `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
  return { name, runId, locations: new Set(), reasons: new Set(), isEnded: false }
}
