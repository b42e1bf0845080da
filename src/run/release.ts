/** Publishes the warehouse: its tables and wide views, with the documents that describe them. */
import { Effect, Exit, Option } from "effect"
import { hash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { Catalogue } from "../catalog/discover.ts"
import { namedTables, publishedTables } from "../catalog/published-tables.ts"
import type { Delivered } from "../destinations/contract.ts"
import { type AnyReceiver, workOf } from "../destinations/destinations.ts"
import { tablesOf } from "../catalog/tables.ts"
import { releaseDocuments } from "../stages/publish/contracts/data-package.ts"
import { Failure, failure } from "../values/failure.ts"
import { Output } from "../console/streams.ts"
import { onDisk } from "../output/files.ts"
import { recordPlaces } from "../stores/ledger/given.ts"
import { type AggregateTable, aggregateTables, impersonal } from "../stages/publish/masking/aggregates.ts"
import { maskedTables, stampOf, writeCopy } from "../stages/publish/masking/copy.ts"
import { maskingDocument, stateOf } from "../stages/publish/masking/document.ts"
import { type FailedModel, storeModelProblems } from "../stores/warehouse/meta/model-problems.ts"
import { projectFolder, readModels } from "../stages/publish/models/files.ts"
import { type Ordered, orderOf, withSources } from "../stages/publish/models/order.ts"
import { withViews } from "../stages/publish/changes.ts"
import { confirmRelease, failedModels, isLater, laterRun, previousRelease } from "../stages/publish/manifest.ts"
import { totalsOf } from "../output/manifest.ts"
import { type Published, publish } from "../stages/publish/publish.ts"
import type { SnapshotStatements } from "../stages/publish/snapshot.ts"
import { outputPaths, maskingName } from "../output/paths.ts"
import type { OutputSettings } from "../settings/settings.ts"
import { type Target, hasOwnRelease } from "../settings/targets.ts"
import { commentStatements, versionStatements } from "../stores/warehouse/schema.ts"
import { boundChangedKeys, contentVersions, recordRelease } from "../stores/warehouse/meta/content-versions.ts"
import { storedFingerprint } from "../stores/warehouse/meta/schema-version.ts"
import { publishedMetaTables } from "../stores/warehouse/meta/tables.ts"
import { beginDeliveries, endDelivery, failDelivery } from "../stores/warehouse/meta/targets.ts"
import { isAnythingComplete } from "../stores/warehouse/meta/watermarks.ts"
import { Warehouse } from "../stores/warehouse/warehouse.ts"
import type { WideView } from "../stores/warehouse/wide-view.ts"
import { refreshWide } from "../stores/warehouse/wide-views.ts"

export interface ReleaseOptions {
  readonly run: string
  /** Write every file anew. */
  readonly full?: boolean
  /** Further folders to publish into. */
  readonly targets?: ReadonlyArray<Target>
}

/** A further target that was published. */
export interface PublishedTarget extends Pick<Published, "files" | "isNew" | "problems"> {
  readonly name: string
  /** The link to the release that it got; absent if it got rows. */
  readonly folder?: string
  /** What was changed at the destination; absent if the releases are made there. */
  readonly delivered?: Delivered
}

/**
 * Publishes a new release if the warehouse differs from the current one, then those of the targets. Publishes nothing until
 * a resource has been read completely. Returns the files and the totals of the current release, in `due` whether and why it
 * is new, and in `problems` the models that could not be built, which `meta.model_problems` lists too.
 */
export const publishNow = Effect.fnUntraced(function* (
  catalogue: Catalogue,
  output: OutputSettings,
  { run, full = false, targets = [] }: ReleaseOptions
) {
  const wide = yield* refreshWide(catalogue, output.customFieldClasses)
  const folder = outputPaths(output.folder).published
  const none = { files: [], totals: undefined, problems: [], folder, targets: [] }
  if (output.formats.length === 0) yield* boundChangedKeys()
  const isWanted = output.formats.length > 0
  if (!isWanted && targets.length === 0) {
    yield* beginDeliveries([], run)
    return { due: "not wanted", ...none } as const
  }
  if (!(yield* isAnythingComplete())) return { due: "nothing read", ...none } as const
  yield* beginDeliveries([...(isWanted ? [ownRelease] : []), ...targets.map(({ name }) => name)], run)
  const delivering = deliveringOf(run)
  yield* recordPlaces(
    output.folder,
    targets.map(({ destination, name }) => ({ name, folder: destination.place }))
  )
  // The checkpoint releases memory of unwritten rows, which publishing needs.
  yield* (yield* Warehouse).run("CHECKPOINT")
  const content = { catalogue, wide, models: yield* modelsOf(catalogue, output), aggregates: [], output, run, full }
  // One that fails keeps nothing from the others.
  const released = isWanted
    ? yield* Effect.exit(delivering(ownRelease, publishContent(content, { ...output, folder })))
    : undefined
  const published = Effect.forEach(targets, (target) =>
    Effect.exit(delivering(target.name, publishAndDeliver(content, target, released)))
  )
  // The next changes are compared with this release, whatever a target lacks. Without it, the next release is written anew.
  const record = Effect.ignore(recordRelease())
  const found = yield* released && Exit.isSuccess(released) ? Effect.ensuring(published, record) : published
  // Without releases, rows that could not be delivered are brought up to date by the changes since the last delivery.
  const hasReleases = targets.some(({ destination }) => destination.gets !== "rows")
  if (released === undefined && (hasReleases || found.every(Exit.isSuccess))) yield* record
  const main = released && (yield* released)
  const others: ReadonlyArray<PublishedTarget> = yield* Effect.forEach(found, (exit) => exit)
  const problems = uniqueProblems([...(main?.problems ?? []), ...others.flatMap(({ problems }) => problems)])
  yield* (yield* Warehouse).transaction(storeModelProblems(problems))
  return {
    due: main === undefined ? "not wanted" : main.isNew ? "due" : "unchanged",
    files: main?.files ?? [],
    totals: main?.totals,
    problems,
    folder,
    targets: others
  } as const
})

/** The published files, among the targets. */
const ownRelease = "published"

/** Stores what became of a delivery. */
const deliveringOf =
  (run: string) =>
  <A, R>(name: string, delivery: Effect.Effect<A, Failure, R>) =>
    delivery.pipe(
      Effect.tap(() => endDelivery(name, run)),
      Effect.tapError(({ message }) =>
        Effect.gen(function* () {
          const output = yield* Effect.serviceOption(Output)
          const text = Option.match(output, { onNone: () => message, onSome: ({ redacted }) => redacted(message) })
          yield* Effect.ignore(failDelivery(name, text))
        })
      )
    )

/** `main`: what became of the main release, if one is wanted. */
const publishAndDeliver = Effect.fnUntraced(function* (
  content: Content,
  target: Target,
  main: Exit.Exit<Published, Failure> | undefined
) {
  const { destination, name, profile } = target
  if (destination.gets === "rows") {
    const to = { folder: target.folder, few: undefined, isMasked: false }
    const delivered = yield* deliverTo(content, target, to)
    return { name, files: [], isNew: delivered.changed > 0, problems: [], delivered } satisfies PublishedTarget
  }
  const there = destination.gets === "releases" && !content.full ? yield* previousRelease(target.folder) : undefined
  if (isLater(there?.manifest.run, content.run)) {
    const detail = `${target.folder}: ${laterRun(there!.manifest.run)}`
    return yield* failure({ _tag: "DestinationFailed", target: name, detail })
  }
  const same = hasOwnRelease(target, content.output.formats) ? undefined : main
  const published = same ? { ...(yield* same), name } : yield* publishTarget(content, target)
  if (destination.gets === "releases") {
    const { files, folder, isNew } = published
    const annotations = { target: name, folder, profile, files: files.length }
    yield* Effect.annotateLogs(Effect.logInfo(isNew ? "target published" : "target unchanged"), annotations)
    return published satisfies PublishedTarget
  }
  const { few, folder } = published
  const isMasked = target.masking !== undefined
  const delivered = yield* deliverTo(selected(content, target), target, { few, folder, isMasked })
  return { ...published, delivered } satisfies PublishedTarget
})

/** The release that a destination gets, if it gets one. */
interface Delivering extends Pick<Published, "few" | "folder"> {
  readonly isMasked: boolean
}

const deliverTo = Effect.fnUntraced(function* (
  { aggregates, catalogue, full, models, output, run, wide }: Content,
  to: AnyReceiver,
  { few, folder, isMasked }: Delivering
) {
  const { deliver } = yield* workOf(to)
  const delivered = yield* deliver(to, {
    catalogue,
    releases: folder,
    few: isMasked ? undefined : few,
    tables: withViews([...publishedTables(catalogue), ...aggregates.map(({ published }) => published)], wide),
    models: models.models,
    isMasked,
    output,
    run,
    full
  })
  const { changed, to: place, unit } = delivered
  yield* Effect.annotateLogs(Effect.logInfo(changed > 0 ? "target brought up to date" : "target unchanged"), {
    target: to.name,
    to: place,
    [`${unit}s`]: changed
  })
  return delivered
})

/** The first problem of each model: those of the main release come first. */
const uniqueProblems = (problems: ReadonlyArray<FailedModel>): ReadonlyArray<FailedModel> => [
  ...new Map(problems.toReversed().map((problem) => [problem.where, problem])).values()
]

/** What a release contains. */
interface Content {
  readonly catalogue: Catalogue
  readonly wide: ReadonlyArray<WideView>
  readonly models: Ordered
  /** Counts of tables that the release does not have. */
  readonly aggregates: ReadonlyArray<AggregateTable>
  readonly output: OutputSettings
  readonly run: string
  readonly full: boolean
}

/** Publishes from the warehouse of the context, which is a masked copy for some targets. */
const publishContent = (
  { aggregates, catalogue, wide, models, run, full }: Content,
  { folder, formats }: Pick<Target, "folder" | "formats">,
  masking?: { readonly path: string; readonly text: string }
) =>
  publish(
    {
      folder,
      formats,
      run,
      schemaVersion: "1",
      statements: snapshotStatements(catalogue, wide, aggregates),
      models,
      isMasked: masking !== undefined,
      documents: (files) =>
        Effect.map(releaseDocuments(catalogue, wide, files), (documents) =>
          masking === undefined ? documents : [...documents, masking]
        ),
      full
    },
    withViews([...publishedTables(catalogue), ...aggregates.map(({ published }) => published)], wide)
  )

const snapshotStatements = (
  catalogue: Catalogue,
  wide: ReadonlyArray<WideView>,
  aggregates: ReadonlyArray<AggregateTable>
): SnapshotStatements => {
  const schemas = { current: "main", history: "crm_history" }
  return {
    shared: [
      ...catalogue.resources.flatMap((resource) => versionStatements(resource, schemas)),
      ...commentStatements(catalogue, schemas),
      ...aggregates.map(({ comment }) => comment)
    ],
    own: wide.flatMap((view) => [...view.published("main"), ...view.comments("main")])
  }
}

interface NamedRelease extends Published {
  readonly name: string
}

/** Publishes into the folder of a target. A masked release is made from a masked copy, unless nothing has changed. */
const publishTarget = Effect.fn("publish.target")(function* (all: Content, target: Target) {
  const { folder, masking, name } = target
  const content = selected(all, target)
  if (masking === undefined) return { name, ...(yield* publishContent(content, target)) } satisfies NamedRelease
  const { aggregates, catalogue, output, wide } = content
  const tables = [...maskedTables(catalogue, wide, masking), ...aggregates.flatMap(({ copied }) => copied)]
  const resources = [
    ...catalogue.resources.map(({ table }) => table),
    ...aggregates.map(({ published }) => published.resource)
  ]
  const versions = yield* contentVersions()
  const state = hash(
    "sha256",
    JSON.stringify([
      stampOf(tables, masking),
      resources.map((resource) => versions.get(resource)?.version),
      snapshotStatements(catalogue, wide, aggregates),
      content.models,
      yield* storedFingerprint(),
      target.formats
    ])
  )
  const previous = content.full ? undefined : yield* previousRelease(folder)
  const document = previous && (yield* Effect.promise(() => readDocument(previous.folder)))
  if (previous && stateOf(document) === state) {
    yield* confirmRelease(previous)
    const problems = failedModels(previous.manifest)
    const { files, tables } = previous.manifest
    return { name, isNew: false, files, totals: totalsOf(tables), problems, folder } satisfies NamedRelease
  }
  const published = yield* Effect.gen(function* () {
    const copy = yield* writeCopy(output.folder, tables, masking)
    const fromCopy = Effect.gen(function* () {
      const warehouse = yield* Warehouse
      for (const view of wide) yield* warehouse.run(view.statement("crm"))
      return yield* publishContent(content, target, {
        path: maskingName,
        text: maskingDocument(masking, catalogue, state)
      })
    })
    return yield* Effect.provide(fromCopy, Warehouse.layer(copy, { access: "write", memoryMb: output.memoryMb }))
  }).pipe(
    Effect.scoped,
    Effect.mapError(({ reason }) => new Failure({ reason, unpublished: folder }))
  )
  return { name, ...published } satisfies NamedRelease
})

const readDocument = (folder: string): Promise<string | undefined> =>
  readFile(join(folder, maskingName), "utf8").catch(() => undefined)

/** The tables that a target names and its profile permits, and the models that need no others. */
const selected = (content: Content, { profile, tables }: Target): Content => {
  const { familyByTable } = content.catalogue
  const all = content.catalogue.resources.map(({ table }) => table)
  const wanted = new Set((tables ?? all).flatMap((written) => namedTables(written, all, familyByTable)))
  const named = content.catalogue.resources.filter(({ table }) => wanted.has(table))
  const isAggregate = profile === "aggregate"
  const resources = isAggregate ? impersonal(content.catalogue.resources).filter((one) => named.includes(one)) : named
  const catalogue = { ...content.catalogue, resources }
  const names = new Set(resources.flatMap((resource) => tablesOf(resource).map(({ name }) => name)))
  return {
    ...content,
    catalogue,
    wide: content.wide.filter(({ table }) => names.has(table)),
    models: withSources(content.models, names),
    aggregates: isAggregate ? aggregateTables({ resources: named }) : []
  }
}

/** The models of sluice, and those of the user, in the order in which they are built. */
const modelsOf = Effect.fnUntraced(function* (catalogue: Catalogue, { currencies, models }: OutputSettings) {
  if (!models?.build) return { models: [], problems: [] }
  const { folder } = models
  const files = yield* onDisk(folder ?? projectFolder, "read", () => readModels(folder, currencies))
  const tables = new Set(catalogue.resources.flatMap((resource) => tablesOf(resource).map(({ name }) => name)))
  return orderOf(files, ({ schema, table }) =>
    schema === "meta" ? publishedMetaTables.includes(table) : /^crm(_history)?$/.test(schema) && tables.has(table)
  )
})
