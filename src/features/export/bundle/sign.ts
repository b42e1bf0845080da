/** Signs a bundle with a program that auditors have too: minisign, or ssh-keygen. The key stays outside of the bundle. */
import { execFile } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { isBelow } from "../../../output/remove.ts"
import { type Building, seal } from "./sealed-files.ts"

export interface Signer {
  readonly program: "minisign" | "ssh"
  /** The file of the secret key, without a password. */
  readonly key: string
}

/** What is signed: it contains the checksums of the other tag files, and through them those of every file. */
export const signedName = "tagmanifest-sha256.txt"

/** The signer that `minisign:KEY` or `ssh:KEY` names, or what is wrong with it. */
export const signerOf = (text: string, output: string): Signer | string => {
  const [, program, path] = /^(minisign|ssh):(.+)$/.exec(text) ?? []
  if (program === undefined || path === undefined) return "expected minisign:FILE or ssh:FILE"
  const key = resolve(path)
  if (!existsSync(key)) return `there is no key ${key}`
  // Whoever could change the data could sign it again.
  if (isBelow(realpathSync(key), existsSync(output) ? realpathSync(output) : output))
    return `the key ${key} is in the output folder; keep it elsewhere`
  return { program: program as Signer["program"], key }
}

/** Writes the detached signature beside what it signs. Rejects with what the program said. */
export const sign = async (building: Building, { program, key }: Signer, run: string): Promise<string> => {
  const file = join(building.folder, signedName)
  const signature = `${signedName}.${program === "ssh" ? "sig" : "minisig"}`
  // The comments contain the run instead of the time, so that the same release gives the same bytes.
  const [command, args] =
    program === "ssh"
      ? (["ssh-keygen", ["-Y", "sign", "-f", key, "-n", "sluice", file]] as const)
      : (["minisign", ["-S", "-W", "-s", key, "-m", file, "-c", "sluice bundle", "-t", `run ${run}`]] as const)
  await promisify(execFile)(command, args, { timeout: 60_000 }).catch((cause: Error & { readonly stderr?: string }) => {
    throw new Error(`${command} cannot sign with ${key}: ${(cause.stderr || cause.message).trim().split("\n")[0]}`)
  })
  await seal(building, signature)
  return signature
}
