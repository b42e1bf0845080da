/** The lake, if the formats include it: where it is, and what is needed to open it. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import type { SettingProblem } from "./errors.ts"
import { outputPaths } from "../output/paths.ts"
import type { Environment, Settings } from "./read.ts"
import { secretReader } from "./secrets.ts"

export interface LakeSettings {
  /** Reads the references when they are needed, because one may run a command. */
  readonly access: () => Result.Result<LakeAccess, SettingProblem>
  /** A folder, or `s3://bucket/prefix`. */
  readonly data: string
  readonly extensions: string | undefined
  /** A period such as `30 days`. */
  readonly expireAfter: string
}

export interface LakeAccess {
  readonly catalog:
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "postgres"; readonly connection: Redacted.Redacted }
  readonly s3: S3Access | undefined
}

export interface S3Access {
  readonly key: Redacted.Redacted | undefined
  readonly secret: Redacted.Redacted | undefined
  readonly region: string
  readonly endpoint: string | undefined
}

export const lakeOf = ({ values }: Settings, environment: Environment): LakeSettings | undefined => {
  if (!values.output.formats.includes("lake")) return undefined
  const { lake, output } = values
  const secret = secretReader(environment)
  const folder = resolve(output.folder)
  const optional = (key: "s3_key" | "s3_secret" | "catalog") =>
    lake[key] === undefined ? Result.succeed(undefined) : secret(lake[key], `lake.${key}`)
  const data = lake.data ?? outputPaths(folder).lake
  const isS3 = data.startsWith("s3://")
  return {
    data: isS3 ? data.replace(/\/*$/, "/") : resolve(data),
    extensions: lake.extensions,
    expireAfter: lake.expire_after,
    access: () =>
      Result.gen(function* () {
        const catalog = yield* optional("catalog")
        const [key, s3Secret] = [yield* optional("s3_key"), yield* optional("s3_secret")]
        return {
          catalog: catalogOf(catalog, outputPaths(folder).lakeCatalog),
          s3: isS3 ? { key, secret: s3Secret, region: lake.s3_region, endpoint: lake.s3_endpoint } : undefined
        }
      })
  }
}

const catalogOf = (setting: Redacted.Redacted | undefined, embedded: string): LakeAccess["catalog"] => {
  if (setting === undefined) return { kind: "file", path: embedded }
  const [, database] = /^postgres(?:ql)?:(?!\/\/)(.*)$/s.exec(Redacted.value(setting)) ?? []
  // An address of PostgreSQL is a connection as it is.
  if (/^postgres(ql)?:\/\//.test(Redacted.value(setting))) return { kind: "postgres", connection: setting }
  return database === undefined
    ? { kind: "file", path: resolve(Redacted.value(setting)) }
    : { kind: "postgres", connection: Redacted.make(database) }
}

/** What is wrong with the references of the lake. */
export const lakeProblems = (lake: LakeSettings | undefined): ReadonlyArray<SettingProblem> => {
  const access = lake?.access()
  return access && Result.isFailure(access) ? [access.failure] : []
}
