/** Which oracles apply after a run: all that its night leaves a right answer for. */
import { simulatedOf, tableOf } from "../catalogue.ts"
import type { Night } from "../world.ts"
import { isPlain } from "../glitches.ts"
import type { Ran, Stage } from "../run.ts"
import { isCut } from "../small-limits.ts"
import { clockIsTold, momentsAreTheServices } from "./clock.ts"
import { goneAreDeleted, nothingAliveIsDeleted, shareIsKept } from "./deletions.ts"
import { vaultIsNotBehind } from "./durable.ts"
import { filesAreRight } from "./files.ts"
import { releaseEqualsWarehouse, releaseIsWhole, targetIsTold } from "./release.ts"
import {
  cursorsAreFresh,
  eachIsBounded,
  limitIsKept,
  nothingDurableAgain,
  nothingRefused,
  nothingTwice,
  refusalsAreObeyed,
  tokenIsNotBlamed
} from "./requests.ts"
import {
  type Account,
  accountOf,
  completeHasAll,
  equalsService,
  resumedIsOfItsBeginning,
  spoiltAreRejected,
  straysAreRejected,
  surprises,
  tagsEqualService,
  unansweredIsNotComplete,
  watermarksAreKnown,
  watermarksReachAll
} from "./rows.ts"
import type { State } from "./state.ts"
import { surfacesSayTheTruth } from "./verdict.ts"
import { rejectsAreCounted, versionsAreRight } from "./versions.ts"

export interface Played {
  readonly night: Night
  readonly share: number
  /** The records of the services before the run, or before the first one that it resumes. */
  readonly account: Account
  readonly before: State
  readonly after: State
  readonly ran: Ran
  /** The run before reached no end. */
  readonly resumes: boolean
  /** Answers since the last full sync were right: nothing has hidden a change. */
  readonly isTrusted: boolean
  /** Some record is spoilt. */
  readonly isSpoilt: boolean
  /** Something was deleted since the last full sync: to decide about it, a list may be read a second time. */
  readonly isReduced: boolean
  /** Nothing has changed since the account was first read: every table has all of it as soon as the readings end. */
  readonly isUnchanged: boolean
  /** If the run could only continue the one before: the requests whose answers the disk had. */
  readonly durable: ReadonlyArray<ReadonlySet<string>> | undefined
}

export const afterRun = async (stage: Stage, played: Played): Promise<ReadonlyArray<string>> => [
  ...always(stage, played),
  ...(await onDisk(stage, played)),
  ...(await surfacesSayTheTruth(stage, played.night, played.ran)),
  ...ifComplete(stage, played),
  ...(isCut(stage.world) ? [] : calmIsComplete(played))
]

/** What the service answers as always is complete: an excuse that nobody gave costs a user an alarm and a reading. */
const calmIsComplete = ({ isReduced, isSpoilt, isTrusted, night, ran }: Played) => {
  const { host, lies, refused } = night
  // Of more deleted rows than one run may remove, the children are refused.
  const isAsAlways = isCalm(night) && isTrusted && !isSpoilt && !isReduced && ran.exitCode !== 75
  return isAsAlways && !host && !lies && !refused ? ran.statuses.filter((one) => / incomplete: /.test(one)) : []
}

/** What holds after every run, however it ended. */
const always = (stage: Stage, { after, before, durable, isReduced, night, ran, resumes, share }: Played) => [
  ...(ran.problem === undefined ? [] : [ran.problem]),
  ...clockIsTold(stage, { night, ran }),
  ...momentsAreTheServices(stage, { before, after, night, ran }),
  ...versionsAreRight({
    before,
    after,
    isWhole: isEnded(ran) && !resumes && night.clock === undefined && stage.clock.ahead === 0
  }),
  ...rejectsAreCounted(after, before),
  ...nothingAliveIsDeleted(stage, accountOf(stage), before, after, night.glitch?.name === "short list"),
  ...shareIsKept(stage, before, after, share),
  ...watermarksAreKnown(stage, before, after, resumes),
  ...limitIsKept(stage),
  ...eachIsBounded(stage),
  ...tokenIsNotBlamed({ night, ran }),
  ...refusalsAreObeyed(stage),
  ...nothingRefused(stage),
  ...stage.services.flatMap(({ tooEarly }) => tooEarly.slice(0, 2)),
  ...(night.clock ? [] : cursorsAreFresh(stage)),
  ...(durable
    ? nothingDurableAgain(
        stage,
        durable,
        // A list whose records cannot be requested is read twice before a row of it is deleted. A list that is read from its
        // beginning may show that a parent has changed since.
        (collection) =>
          hasGivenUp(ran, tableOf(collection)) ||
          hasGivenUp(ran, simulatedOf(collection).resource.childOf?.table ?? tableOf(collection)) ||
          (isReduced && isReadTwice(collection))
      )
    : [])
]

const onDisk = async (stage: Stage, { after, ran }: Played) => [
  ...(stage.machine.isDead ? await vaultIsNotBehind(stage) : []),
  ...(ran.synced?.isVaultTruncated ? ["the vault is behind the warehouse"] : []),
  ...stage.machine.disk.outside.splice(0).map((change) => `outside of the output folder: ${change}`),
  ...releaseIsWhole(stage),
  ...(await filesAreRight(stage, after, ran)),
  ...(await targetIsTold(stage, after, ran)),
  ...(stage.world.formats.length > 0 && ran.synced && isAnyComplete(after) ? await releaseEqualsWarehouse(stage) : [])
]

const ifComplete = (stage: Stage, played: Played): ReadonlyArray<string> => {
  const { account, after, before, isReduced, isUnchanged, isSpoilt, isTrusted, night, ran, resumes, share } = played
  const isFresh = isTrusted && !resumes
  const isUndisturbed = isCalm(night) && isEnded(ran)
  return [
    ...(night.glitch && !isPlain(night.glitch)
      ? []
      : completeHasAll(stage, account, after, ran, { isTrusted, isFull: night.full })),
    ...(night.glitch && isPlain(night.glitch) ? unansweredIsNotComplete(stage, ran) : []),
    ...(isEnded(ran) && resumes ? resumedIsOfItsBeginning(stage, after) : []),
    ...(isUndisturbed && !isSpoilt ? surprises(stage, ran) : []),
    ...(isUndisturbed && isTrusted && !isSpoilt && night.lies === undefined
      ? watermarksReachAll(stage, account, after, ran)
      : []),
    // What an interrupted full sync had read to its end is not read again, whatever has changed since.
    ...(isUndisturbed && !(resumes && night.full)
      ? equalsService(stage, after, ran, {
          account,
          resumes,
          isTrusted,
          isFull: (night.full && share === 1) || (isUnchanged && isTrusted)
        })
      : []),
    ...(isUndisturbed && isTrusted ? [...tagsEqualService(stage, after), ...spoiltAreRejected(stage, after)] : []),
    ...(isUndisturbed && isFresh && night.full ? straysAreRejected(stage, after) : []),
    ...(isUndisturbed && isFresh && night.full ? goneAreDeleted(stage, account, before, after, share) : []),
    ...(isUndisturbed && isFresh && !isReduced && night.lies === undefined && !hasGivenUp(ran)
      ? nothingTwice(stage)
      : [])
  ]
}

const isReadTwice = (collection: string) => simulatedOf(collection).resource.getOne === undefined

/** A strategy that does not work is tried with requests that another one may send again. */
const hasGivenUp = ({ statuses }: Ran, table = "") =>
  statuses.some((one) => one.startsWith(table) && one.includes("could not be used"))

const isEnded = ({ exitCode, synced }: Ran) => synced !== undefined && exitCode === 0

const isAnyComplete = ({ meta }: State) =>
  meta.run_resources.some(({ status }) => String(status).startsWith("complete"))

/** Whether nothing but the account itself was unusual. */
const isCalm = ({ churn, clock, faults, glitch, interruption, suspended }: Night) =>
  suspended === undefined &&
  churn === undefined &&
  clock === undefined &&
  faults === 0 &&
  glitch === undefined &&
  interruption === undefined
