import type { Settings } from "../options.ts"
import { type CustomField, customFields } from "./custom-fields.ts"
import { Random, streams } from "./random.ts"

/** The values to which every seeded record may refer: ids, custom fields, and the start and end of the history. */
export interface AccountContext {
  readonly seed: number
  readonly malformed: boolean
  readonly settings: Settings
  readonly locationId: string
  readonly companyId: string
  readonly userIds: ReadonlyArray<string>
  readonly customFields: ReadonlyArray<CustomField>
  readonly begin: number
  readonly end: number
}

export const createContext = (settings: Settings): AccountContext => {
  const random = new Random(settings.seed, streams.setup, 0)
  return {
    seed: settings.seed,
    malformed: settings.world === "nasty",
    settings,
    locationId: random.id(),
    companyId: settings.location === 0 ? random.id() : companyOf(settings, random),
    userIds: Array.from({ length: settings.users }, () => random.id()),
    customFields: customFields(random, settings.world === "nasty", settings.files),
    begin: settings.now - (settings.busyYear ? months(13) : years(3)),
    end: settings.now
  }
}

/** The company of the first location of the agency, whose id follows that of the location. */
const companyOf = ({ location, seed }: Settings, own: Random): string => {
  own.id()
  const first = new Random(seed - location, streams.setup, 0)
  first.id()
  return first.id()
}

/**
 * When record `index` of `count` was created: later records are denser, as in a growing business. The first 3 of every 40
 * records share one millisecond, as after an import, so that every list has ties. In a busy year, the last tenth of them
 * was created in the last eight days.
 */
export const creationTime = (context: AccountContext, stream: number, index: number, count: number): number => {
  const tied = index % 40 < 3 ? index - (index % 40) : index
  const share = (tied + new Random(context.seed, stream + 1000, tied).unit()) / Math.max(1, count)
  const { begin, end, settings } = context
  if (!settings.busyYear) return Math.floor(begin + (end - begin) * share ** 0.8)
  const lastDays = end - 8 * 86_400_000
  return Math.floor(
    share < 0.9 ? begin + (lastDays - begin) * (share / 0.9) ** 0.8 : lastDays + (end - lastDays) * (share * 10 - 9)
  )
}

const years = (count: number): number => count * 365.25 * 86_400_000
const months = (count: number): number => years(count / 12)

/** The parent of a record among `count` records; drawn separately, so that it is known without building the record. */
export const ownerOf = (context: AccountContext, stream: number, index: number, count: number): number =>
  new Random(context.seed, stream + 2000, index).int(count)
