import type { FaultRule } from "./http/faults.ts"

export interface SandboxOptions {
  /** Default: 0, which selects any free port. */
  port?: number
  host?: string
  /** The same seed, counts and `now` create the same account. */
  seed?: number
  contacts?: number
  /** Locations of the agency, each with an account of this size and limits of its own. Default: 1, without an agency. */
  locations?: number
  opportunities?: number
  conversations?: number
  messages?: number
  orders?: number
  submissions?: number
  invoices?: number
  subscriptions?: number
  tasks?: number
  appointments?: number
  users?: number
  notesPerContact?: number
  /**
   * Products, templates, posts and other records of which an account has many however few contacts it has, in proportion to
   * the usual number. Default: 1.
   */
  minimumScale?: number
  /** The exact number of tags of every contact, for benchmarks. Default: 0 to 4. */
  tags?: number
  /** The exact number of custom values of every contact, for benchmarks. Default: 0 to 6. */
  customValues?: number
  /** Whether the account accepts a second contact with the same email or phone (A 4.2). Default: true. */
  allowDuplicateContact?: boolean
  /** The fields by which duplicates are found, in this order (A 4.2). Default: email first. */
  duplicateOrder?: readonly ["email", "phone"] | readonly ["phone", "email"]
  /** Whether the eager collections are serialised before the sandbox listens, so that a benchmark does not measure it. */
  warm?: boolean
  limits?: Limits | "off"
  windowKind?: "sliding" | "fixed"
  /** Seconds in `Retry-After` of a 429. Default: no header, because the live service sends none (field-notes 1). */
  retryAfter?: number
  /** Requests that another client of each integration sends in every interval. */
  foreign?: number
  latencyMs?: number | [min: number, max: number]
  compress?: boolean
  /** `live`: answers as recorded in July 2026, where they differ from the documents. */
  world?: "realistic" | "nasty" | "live"
  /**
   * A history of thirteen months with a busy last week, few sources and quick replies, for those who look at it. Default:
   * false, three years.
   */
  busyYear?: boolean
  /** The end of the seeded history. Default: the start of the current hour. The clock itself is real time. */
  now?: number
  /** Lifetime of an access token from `POST /oauth/token`, in seconds (field-notes 1). */
  tokenLifetime?: number
  /** The probability that a fault of any kind applies to a request, or rules. */
  faults?: number | ReadonlyArray<FaultRule>
  /** The addresses to which workflows may send webhooks. Default: only loopback addresses. */
  webhooks?: "loopback" | "any"
  /** Whether links lead to a second host, which serves the files behind them. Default: false; they lead nowhere. */
  files?: boolean
  /** The size of the largest file in megabytes of 1,048,576 bytes. Default: 0, no such file. */
  fileMb?: number
  /** The share of links with some trouble, such as an expired signature. Default: 0. */
  fileTrouble?: number
  /** The number of distinct contents that the links share. Default: about a quarter of the number of links. */
  fileContents?: number
  /** The exact size of every other file, for benchmarks. Default: 0, sizes as in a live account. */
  fileBytes?: number
  /** The share of messages with attachments, if links lead to files. Default: 0.1. */
  messagesWithFiles?: number
  variants?: Variants
}

export interface Limits {
  burst: number
  intervalMs: number
  daily: number
}

/** Behaviour that the documents leave open, or in which the live service differs (field-notes). `settle` has the defaults. */
export interface Variants {
  contactPaging?: "searchAfter" | "page" | "none"
  contactDateFilter?: "iso" | "epoch" | "refused"
  /** Whether contacts are sorted as asked, or always by their creation or their address, as by a service that ignores it. */
  contactSort?: "honoured" | "created" | "email"
  contactShape?: "full" | "reduced"
  /** Whether a contact has `dateUpdated` from its creation, or only from its first change. */
  contactDateUpdated?: "always" | "once changed"
  opportunityFilters?: "honoured" | "ignored" | "refused"
  opportunityPostLimitMax?: 100 | 500
  messageDateUpdated?: boolean
  exportLimitMax?: 1000 | 500
  exportDates?: "honoured" | "ignored"
  conversationDates?: "iso" | "epoch"
  missingScopeStatus?: 403 | 401
  missingLocationStatus?: 422 | 403
  unknownContactStatus?: 404 | 400
  unsupportedVersionStatus?: 400 | 401
  noteTouchesContact?: boolean
  dailyResetHeader?: boolean
  redirectShape?: "array" | "object"
  /** Which tasks a search returns that does not say `completed`: the documents do not tell. */
  taskSearch?: "all" | "open"
  /** Whether a user can be read by id. With `missing` it is a 404, and the list returns the users in full. */
  userReads?: "found" | "missing"
  /** What the account has of document 3: everything, lists without a record, no such route, or answers of another form. */
  furtherLists?: "offered" | "empty" | "missing" | "other form"
  /** Whether lost reasons that are requested as deleted are only those, or all. */
  deletedReasons?: "only" | "also"
  /** The object whose records the service does not return. */
  refusedRecords?: "none" | "business" | "custom_objects.boats"
  /** What becomes of the filters of a search for records of an object. */
  objectFilters?: "honoured" | "ignored" | "refused"
  /** The maximum length of the pages of all lists, as a gateway before the service may limit them. Default: 0, no limit. */
  pageCut?: number
}

export type Settings = Required<Omit<SandboxOptions, "tags" | "customValues" | "retryAfter" | "variants">> & {
  tags: number | undefined
  customValues: number | undefined
  retryAfter: number | undefined
  variants: Required<Variants>
  /** The number of this location in its agency, which is part of its seed. */
  location: number
}

const liveVariants: Variants = {
  contactShape: "reduced",
  opportunityPostLimitMax: 500,
  exportLimitMax: 500,
  conversationDates: "epoch",
  missingScopeStatus: 401,
  missingLocationStatus: 403,
  unknownContactStatus: 400,
  unsupportedVersionStatus: 401,
  redirectShape: "object"
}

const documentedLimits: Limits = { burst: 100, intervalMs: 10_000, daily: 200_000 }

/** Completes the options with their defaults. The other counts derive from the number of contacts. */
export const settle = (options: SandboxOptions = {}): Settings => {
  const contacts = options.contacts ?? 2000
  const conversations = options.conversations ?? Math.round(contacts * 0.6)
  // Every conversation has a last message, so there are at least as many messages as conversations.
  const messages = Math.max(conversations, options.messages ?? conversations * 6)
  const messagesWithFiles = options.messagesWithFiles ?? 0.1
  return {
    port: options.port ?? 0,
    host: options.host ?? "127.0.0.1",
    seed: options.seed ?? 1,
    contacts,
    locations: options.locations ?? 1,
    location: 0,
    opportunities: options.opportunities ?? Math.round(contacts * 0.4),
    conversations,
    messages,
    orders: options.orders ?? Math.round(contacts * 0.25),
    submissions: options.submissions ?? Math.round(contacts * 0.3),
    invoices: options.invoices ?? Math.round(contacts * 0.2),
    subscriptions: options.subscriptions ?? Math.round(contacts * 0.06),
    tasks: options.tasks ?? Math.round(contacts * 0.3),
    appointments: options.appointments ?? Math.round(contacts * 0.2),
    users: options.users ?? Math.min(400, 8 + Math.round(contacts / 100)),
    notesPerContact: options.notesPerContact ?? 0.8,
    minimumScale: options.minimumScale ?? 1,
    tags: options.tags,
    customValues: options.customValues,
    allowDuplicateContact: options.allowDuplicateContact ?? true,
    duplicateOrder: options.duplicateOrder ?? ["email", "phone"],
    warm: options.warm ?? false,
    limits: options.limits ?? documentedLimits,
    windowKind: options.windowKind ?? "sliding",
    retryAfter: options.retryAfter,
    foreign: options.foreign ?? 0,
    latencyMs: options.latencyMs ?? 0,
    compress: options.compress ?? true,
    world: options.world ?? "realistic",
    busyYear: options.busyYear ?? false,
    now: options.now ?? Math.floor(Date.now() / 3_600_000) * 3_600_000,
    tokenLifetime: options.tokenLifetime ?? 86_399,
    faults: options.faults ?? [],
    webhooks: options.webhooks ?? "loopback",
    files: options.files ?? false,
    fileMb: options.fileMb ?? 0,
    fileTrouble: options.fileTrouble ?? 0,
    fileContents: options.fileContents ?? Math.max(24, Math.ceil((contacts * 1.5 + messages * messagesWithFiles) / 4)),
    fileBytes: options.fileBytes ?? 0,
    messagesWithFiles,
    variants: {
      contactPaging: "searchAfter",
      contactDateFilter: "iso",
      contactSort: "honoured",
      contactShape: "full",
      contactDateUpdated: "always",
      opportunityFilters: "honoured",
      opportunityPostLimitMax: 100,
      messageDateUpdated: true,
      exportLimitMax: 1000,
      exportDates: "honoured",
      conversationDates: "iso",
      missingScopeStatus: 403,
      missingLocationStatus: 422,
      unknownContactStatus: 404,
      unsupportedVersionStatus: 400,
      noteTouchesContact: false,
      dailyResetHeader: true,
      redirectShape: "array",
      taskSearch: "all",
      userReads: "found",
      furtherLists: "offered",
      deletedReasons: "only",
      objectFilters: "honoured",
      refusedRecords: "none",
      pageCut: 0,
      ...(options.world === "live" && liveVariants),
      ...options.variants
    }
  }
}
