/** A bucket of S3, or of a service with its interface. */
import * as Result from "effect/Result"
import type { DestinationKind, DestinationPlace, DestinationReading, ItemProblem } from "../../settings/destination.ts"
import type { Bucket } from "../../stores/objects/bucket.ts"
import { type ItemOf, type UnavailableSecret, httpAddress, pattern, setting, text } from "../../values/setting.ts"

/** How a bucket is opened. */
const access = {
  s3_key: setting(text, {
    secret: true,
    description: "Key id for that bucket, or a reference to it.",
    example: "env:S3_KEY"
  }),
  s3_secret: setting(text, {
    secret: true,
    description: "Secret of that key, or a reference to it.",
    example: "env:S3_SECRET"
  }),
  s3_region: setting(text, {
    description: "Region of that bucket.",
    default: "us-east-1"
  }),
  s3_endpoint: setting(httpAddress, {
    description: "Address of another service with the interface of S3; buckets are then part of the path.",
    example: "https://s3.example.com"
  }),
  s3_encryption: setting(
    pattern("AES256, aws:kms, or aws:kms: and the id of a key", /^(AES256|aws:kms(:[\w:/-]+)?)$/),
    {
      description: "How the service encrypts what is written there, if the bucket wants every request to say so.",
      example: "aws:kms"
    }
  )
}

/** The same with variables, which have the name of the bucket's owner. */
export const bucketSettingsOf = <const Name extends string>(name: Name) => ({
  ...access,
  s3_key: { ...access.s3_key, environment: `SLUICE_${name}_S3_KEY`, example: `env:${name}_S3_KEY` },
  s3_secret: { ...access.s3_secret, environment: `SLUICE_${name}_S3_SECRET`, example: `env:${name}_S3_SECRET` },
  s3_endpoint: { ...access.s3_endpoint, environment: `SLUICE_${name}_S3_ENDPOINT` }
})

/** Those of a target. */
export const s3Settings = {
  s3_key: { ...access.s3_key, alternative: true },
  s3_secret: { ...access.s3_secret, alternative: true },
  s3_region: { ...access.s3_region, alternative: true },
  s3_endpoint: { ...access.s3_endpoint, alternative: true },
  s3_encryption: { ...access.s3_encryption, alternative: true }
} as const

export interface BucketDestination extends DestinationPlace {
  readonly kind: "bucket"
  /** Reads the references when they are needed, because one may run a command. */
  readonly access: () => Result.Result<Bucket, UnavailableSecret>
}

export type S3Access = Omit<Bucket, "place">

type Item = ItemOf<typeof s3Settings> & { readonly folder?: string }

export const bucket = {
  gets: "files",
  cannot: {},
  settings: s3Settings,
  named: "folder",
  unused: "the target is not in a bucket: its folder is not s3://bucket/prefix",
  isNamedBy: ({ folder }) => folder?.startsWith("s3://") ?? false,
  read: (item, { secretOf }) => {
    const place = item.folder!.replace(/\/$/, "")
    const { access, secrets } = s3Of(item, secretOf)
    return { kind: "bucket", place, secrets, access: () => Result.map(access(), (s3) => ({ ...s3, place })) }
  },
  problems: (item): ReadonlyArray<ItemProblem> => {
    const { folder = "" } = item
    const problem = addressProblem(folder)
    return problem === undefined ? keyProblems(item) : [{ key: "folder", value: folder, why: problem }]
  },
  // As if the bucket were a folder that no other can be in.
  paths: ({ folder = "", s3_endpoint: endpoint = "" }) => [`${endpoint} ${folder.replace(/\/$/, "")}`]
} as const satisfies DestinationKind<Item, BucketDestination>

/** Reads the references when they are needed, because one may run a command. */
export const s3Of = (
  item: ItemOf<typeof s3Settings>,
  secretOf: DestinationReading["secretOf"]
): Pick<DestinationPlace, "secrets"> & { readonly access: () => Result.Result<S3Access, UnavailableSecret> } => {
  const key = item.s3_key === undefined ? undefined : secretOf("s3_key", item.s3_key)
  const secret = item.s3_secret === undefined ? undefined : secretOf("s3_secret", item.s3_secret)
  const region = item.s3_region ?? access.s3_region.default
  return {
    secrets: [key, secret].filter((one) => one !== undefined),
    access: () =>
      Result.gen(function* () {
        const [keyId, secretKey] = [key && (yield* key.read()), secret && (yield* secret.read())]
        const { s3_encryption: encryption, s3_endpoint: endpoint } = item
        return { key: keyId, secret: secretKey, region, endpoint, ...(encryption !== undefined && { encryption }) }
      })
  }
}

/** One of the two credentials without the other. */
export const keyProblems = ({
  s3_key: key,
  s3_secret: secret
}: ItemOf<typeof s3Settings>): ReadonlyArray<ItemProblem> => {
  if (key !== undefined && secret === undefined) return [{ key: "s3_key", value: "set", why: "s3_secret is missing" }]
  if (secret !== undefined && key === undefined) return [{ key: "s3_secret", value: "set", why: "s3_key is missing" }]
  return []
}

const bucketName = /^s3:\/\/[a-z0-9][a-z0-9.-]+[a-z0-9](\/|$)/
/** Object names that are safe in an address and in a statement. */
const bucketPrefix = /^s3:\/\/[^/]+(\/(?!\.{1,2}(\/|$))[^/?#%\\\p{Cc}]+)*\/?$/u

/** Why an address is none of a bucket. */
export const addressProblem = (address: string): string | undefined => {
  if (!bucketName.test(address))
    return "a bucket is written as s3://bucket/prefix: its name has 3 to 63 lower-case letters, digits, dots and hyphens"
  return bucketPrefix.test(address)
    ? undefined
    : "a bucket is written as s3://bucket/prefix: no part of the prefix is empty, . or .., or has ? # % \\ or a control character"
}
