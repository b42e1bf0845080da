/**
 * What the address of a PostgreSQL database says about TLS, as libpq understands it (PostgreSQL 18, 32.19). `pg` takes most
 * modes for `verify-full`, and warns about each on stderr, so it never sees them.
 */
import { existsSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import type { ConnectionOptions } from "node:tls"
import { decoded } from "../../values/text.ts"
import { codeOf, messageOf } from "../../values/thrown.ts"

/** How a connection is tried. */
export interface PostgresAccess {
  readonly connectionString: string
  readonly ssl: ConnectionOptions | false
}

const modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const
type Mode = (typeof modes)[number]

const tlsParameter = /^(ssl|sslmode|sslrootcert|sslcert|sslkey|uselibpqcompat)$/

/** Tries the connections that the address allows, one after the other. Rejects with the error of the one that says most. */
export const reaching = async <A>(address: string, connect: (access: PostgresAccess) => Promise<A>): Promise<A> => {
  const [first, second] = accessesOf(address)
  try {
    return await connect(first)
  } catch (error) {
    if (second === undefined || isOther(error)) throw error
    try {
      return await connect(second)
    } catch (other) {
      const [encrypted, plain] = first.ssl === false ? [other, error] : [error, other]
      throw lacksTls(encrypted) ? plain : encrypted
    }
  }
}

const lacksTls = (error: unknown): boolean => error instanceof Error && /does not support SSL/.test(error.message)

/** No other connection helps: there is no server, or it has let this one in and refuses something else. */
const isOther = (error: unknown): boolean =>
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|(?!28)[0-9A-Z]{2}\d[0-9A-Z]{2})$/.test(
    String(codeOf(error))
  ) ||
  (error instanceof Error && /timeout/.test(error.message))

/** Throws a sentence about a parameter that is wrong. */
export const accessesOf = (
  address: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  home = homedir()
): readonly [PostgresAccess, PostgresAccess?] => {
  const start = address.indexOf("?")
  const pairs = start < 0 ? [] : address.slice(start + 1).split("&")
  const given = new Map(pairs.map((pair) => [pair.split("=")[0]!, textOf(pair)] as const))
  const others = pairs.filter((pair) => !tlsParameter.test(pair.split("=")[0]!))
  const connectionString =
    start < 0 ? address : [address.slice(0, start), ...(others.length > 0 ? [others.join("&")] : [])].join("?")
  // No socket of the machine itself has TLS.
  if (/^(\/|socket:)|@(\/|%2f)|:\/\/(\/|%2f)/i.test(connectionString) || /^(\/|%2f)/i.test(given.get("host") ?? ""))
    return [{ connectionString, ssl: false }]

  const file = (name: string, variable: string, usual: string) => {
    const named = given.get(name) || environment[variable]
    const found = join(home, ".postgresql", usual)
    return named || (existsSync(found) ? found : undefined)
  }
  const root = file("sslrootcert", "PGSSLROOTCERT", "root.crt")
  const mode = modeIn(given, environment, root)
  const plain = { connectionString, ssl: false } as const
  if (mode === "disable") return [plain]
  const [cert, key] = [file("sslcert", "PGSSLCERT", "postgresql.crt"), file("sslkey", "PGSSLKEY", "postgresql.key")]
  const encrypted = {
    connectionString,
    ssl: {
      ...(cert !== undefined &&
        key !== undefined && { cert: contentOf("sslcert", cert), key: contentOf("sslkey", key) }),
      ...verification(mode, root)
    }
  }
  return mode === "allow" ? [plain, encrypted] : mode === "prefer" ? [encrypted, plain] : [encrypted]
}

/** libpq takes a plus sign as it is. */
const textOf = (pair: string): string => decoded(pair.slice(pair.indexOf("=") + 1))

const modeIn = (
  given: ReadonlyMap<string, string>,
  environment: Readonly<Record<string, string | undefined>>,
  root: string | undefined
): Mode => {
  const ssl = given.get("ssl")
  // JDBC and Node write ssl=true; Node alone no-verify.
  const ofSsl = ssl === undefined ? undefined : /^(false|0)$/.test(ssl) ? "disable" : "require"
  const written = given.get("sslmode") ?? ofSsl ?? environment["PGSSLMODE"]
  if (root === "system" && written !== undefined && written !== "verify-full" && written !== "disable")
    throw new Error(`sslrootcert=system needs sslmode=verify-full, and not ${shown(written)}`)
  if (written === undefined) return root === "system" ? "verify-full" : "prefer"
  if (written === "no-verify") return "require"
  const mode = modes.find((one) => one === written)
  if (mode === undefined) throw new Error(`sslmode is ${shown(written)}; expected ${modes.join(", ")}`)
  return mode
}

/** An address that was written wrongly may have a secret there. */
const shown = (mode: string): string => (/^[a-z-]{1,20}$/.test(mode) ? mode : "another word")

/**
 * With a root certificate, every mode asks for a certificate of that authority. Without one, `verify-ca` could be met by
 * whoever buys a certificate, so it is `verify-full` with the authorities that Node trusts; libpq refuses both.
 */
const verification = (mode: Mode, root: string | undefined): ConnectionOptions => {
  const isVerified = mode === "verify-ca" || mode === "verify-full"
  if (root === undefined || root === "system") return { rejectUnauthorized: isVerified }
  const ca = contentOf("sslrootcert", root)
  return mode === "verify-full" ? { ca } : { ca, checkServerIdentity: () => undefined }
}

const contentOf = (name: string, path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (cause) {
    throw new Error(`${name}: ${messageOf(cause)}`, { cause })
  }
}
