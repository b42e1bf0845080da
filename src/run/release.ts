/** Publishes the warehouse: its tables and wide views, with the documents that describe them. */
import { Cause, Effect, Exit, Option } from "effect"
import { hash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { Catalogue } from "../catalog/discover.ts"
import { namedTables, publishedTables } from "../catalog/published-tables.ts"
import type { Delivered } from "../destinations/contract.ts"
import { workOf } from "../destinations/destinations.ts"
import { tablesOf } from "../catalog/tables.ts"
import { releaseDocuments } from "../stages/publish/contracts/data-package.ts"
import { Failure } from "../values/failure.ts"
import { messageOf } from "../values/thrown.ts"
import { Output } from "../console/streams.ts"
import { onDisk } from "../output/files.ts"
import { ownerOf } from "../output/folder.ts"
import { checkAppendable, ledgerOf } from "../stores/ledger/file.ts"
import { recordPlaces } from "../stores/ledger/given.ts"
import { maskedTables, stampOf, writeCopy } from "../stages/publish/masking/copy.ts"
import { maskingDocument, stateOf } from "../stages/publish/masking/document.ts"
import { type FailedModel, storeModelProblems } from "../stores/warehouse/meta/model-problems.ts"
import { projectFolder, readModels } from "../stages/publish/models/files.ts"
import { type Ordered, orderOf, withSources } from "../stages/publish/models/order.ts"
import { withViews } from "../stages/publish/changes.ts"
import { confirmRelease, failedModels, previousRelease } from "../stages/publish/manifest.ts"
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
import { beginDeliveries, endDelivery, failDelivery, ownRelease } from "../stores/warehouse/meta/targets.ts"
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
  yield* onDisk(ledgerOf(output.folder), "written", () => checkAppendable(output.folder))
  yield* recordPlaces(
    output.folder,
    targets.map(({ destination, name }) => ({ name, folder: destination.place }))
  )
  // The checkpoint releases memory of unwritten rows, which publishing needs.
  yield* (yield* Warehouse).checkpointIfAbove(1 / 8)
  const models = yield* modelsOf(catalogue, output)
  const owner = targets.length > 0 ? yield* ownerOf(output.folder) : undefined
  const content = { catalogue, wide, models, output, owner, run, full }
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

/** Stores what became of a delivery, also by a defect. One that was interrupted stays as not delivered. */
export const deliveringOf =
  (run: string) =>
  <A, R>(name: string, delivery: Effect.Effect<A, Failure, R>) =>
    Effect.onExit(delivery, (exit) =>
      Effect.gen(function* () {
        if (Exit.isSuccess(exit)) return yield* endDelivery(name, run)
        if (Cause.hasInterruptsOnly(exit.cause)) return
        const message = messageOf(Cause.squash(exit.cause))
        const output = yield* Effect.serviceOption(Output)
        const text = Option.match(output, { onNone: () => message, onSome: ({ redacted }) => redacted(message) })
        yield* Effect.ignore(failDelivery(name, text))
      })
    )

/** `main`: what became of the main release, if one is wanted. */
const publishAndDeliver = Effect.fnUntraced(function* (
  all: Content,
  target: Target,
  main: Exit.Exit<Published, Failure> | undefined
) {
  const { destination, name, profile } = target
  const getsRows = destination.gets === "rows"
  const content = getsRows ? all : selected(all, target)
  const { catalogue, full, models, output, run, wide } = content
  const same = hasOwnRelease(target, output.formats) ? undefined : main
  const making = getsRows
    ? undefined
    : same
      ? Effect.map(same, (made) => ({ ...made, name }))
      : publishTarget(all, target)
  const isMasked = target.masking !== undefined
  const { deliver } = yield* workOf(target)
  const { delivered, made } = yield* deliver.run(
    target,
    (release) => ({
      catalogue,
      few: isMasked ? undefined : release?.few,
      tables: withViews(publishedTables(catalogue), wide),
      models: models.models,
      isMasked,
      output,
      run,
      full
    }),
    making
  )
  if (made && destination.gets === "releases") {
    const { files, folder, isNew } = made
    const annotations = { target: name, folder, profile, files: files.length }
    yield* Effect.annotateLogs(Effect.logInfo(isNew ? "target published" : "target unchanged"), annotations)
    return made satisfies PublishedTarget
  }
  const { changed, to, unit } = delivered
  yield* Effect.annotateLogs(Effect.logInfo(changed > 0 ? "target brought up to date" : "target unchanged"), {
    target: name,
    to,
    [`${unit}s`]: changed
  })
  return { ...(made ?? { name, files: [], isNew: changed > 0, problems: [] }), delivered } satisfies PublishedTarget
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
  readonly output: OutputSettings
  /** The id of the output folder, if there are targets. */
  readonly owner: string | undefined
  readonly run: string
  readonly full: boolean
}

/** Publishes from the warehouse of the context, which is a masked copy for some targets. */
const publishContent = (
  { catalogue, wide, models, owner, run, full }: Content,
  { folder, formats }: Pick<Target, "folder" | "formats">,
  masking?: { readonly path: string; readonly text: string }
) =>
  publish(
    {
      folder,
      formats,
      run,
      owner,
      schemaVersion: "1",
      statements: snapshotStatements(catalogue, wide),
      models,
      isMasked: masking !== undefined,
      documents: (files) =>
        Effect.map(releaseDocuments(catalogue, wide, files), (documents) =>
          masking === undefined ? documents : [...documents, masking]
        ),
      full
    },
    withViews(publishedTables(catalogue), wide)
  )

const snapshotStatements = (catalogue: Catalogue, wide: ReadonlyArray<WideView>): SnapshotStatements => {
  const schemas = { current: "main", history: "crm_history" }
  return {
    shared: [
      ...catalogue.resources.flatMap((resource) => versionStatements(resource, schemas)),
      ...commentStatements(catalogue, schemas)
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
  const { catalogue, output, wide } = content
  const tables = maskedTables(catalogue, wide, masking)
  const versions = yield* contentVersions()
  const state = hash(
    "sha256",
    JSON.stringify([
      stampOf(tables, masking),
      catalogue.resources.map(({ table }) => versions.get(table)?.version),
      snapshotStatements(catalogue, wide),
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
      for (const view of wide) yield* (yield* Warehouse).run(view.statement("crm"))
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

/** The tables that a target names, and the models that need no others. */
const selected = (content: Content, { tables }: Target): Content => {
  const { familyByTable } = content.catalogue
  const all = content.catalogue.resources.map(({ table }) => table)
  const wanted = new Set((tables ?? all).flatMap((written) => namedTables(written, all, familyByTable)))
  const resources = content.catalogue.resources.filter(({ table }) => wanted.has(table))
  const catalogue = { ...content.catalogue, resources }
  const names = new Set(resources.flatMap((resource) => tablesOf(resource).map(({ name }) => name)))
  return {
    ...content,
    catalogue,
    wide: content.wide.filter(({ table }) => names.has(table)),
    models: withSources(content.models, names)
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
