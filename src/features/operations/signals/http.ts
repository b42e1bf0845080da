/** Short requests to the user's own monitoring. They are bounded, and their failure is a sentence without the address. */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { throughProxy } from "../../../network/proxy.ts"
import type { Secret } from "../../../values/setting.ts"
import { codeOf } from "../../../values/thrown.ts"

const timeoutMs = 3000
const tries = 2

/**
 * Sends a POST, twice if needed, and returns `undefined`, or what went wrong. The address may contain a secret, so no message
 * has it. `path` is added to the path of the address.
 */
export const post = async (
  url: Secret,
  {
    path = "",
    search = {},
    body
  }: {
    readonly path?: string
    readonly search?: Readonly<Record<string, string>>
    readonly body: string
  }
): Promise<string | undefined> => {
  const reference = url.read()
  if (Result.isFailure(reference)) return `its address cannot be read: ${reference.failure.what.cause}`
  const text = Redacted.value(reference.success)
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) return "its address is no http or https address"
  const address = new URL(text)
  address.pathname = `${address.pathname.replace(/\/$/, "")}${path}` || "/"
  for (const [key, value] of Object.entries(search)) address.searchParams.set(key, value)
  const type = /^\s*[{[]/.test(body) ? "application/json" : "text/plain; charset=utf-8"
  return deliver(address, { headers: { "content-type": type }, body })
}

interface Delivery {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer>
}

/** Sends a POST, twice if needed, and returns `undefined`, or what went wrong, without the address. */
export const deliver = async (address: URL, delivery: Delivery): Promise<string | undefined> => {
  let problem: string | undefined
  for (let left = tries; left > 0; left--) {
    problem = await send(address, delivery)
    if (problem === undefined) return undefined
  }
  return problem
}

const send = async (address: URL, delivery: Delivery): Promise<string | undefined> => {
  try {
    const response = await fetch(address, {
      ...delivery,
      method: "POST",
      signal: AbortSignal.timeout(timeoutMs)
    })
    await response.body?.cancel()
    return response.ok ? undefined : `it answered with status ${response.status}`
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause))
    if (error.name === "TimeoutError") return `it gave no answer within ${timeoutMs / 1000} s`
    const code = codeOf(error.cause)
    return `it cannot be reached${code === undefined ? "" : ` (${code})`}${throughProxy(address.href)}`
  }
}
