/** Compares the ledger in a bundle with its own chain, and with the head that `bag-info.txt` names. */
import { join } from "node:path"
import { headText } from "../../../../stores/ledger/record.ts"
import { checkLedger } from "../../../../stores/ledger/verify.ts"
import { type BundleFinding, type FoundFile, textBytesMax, textOf } from "./files.ts"
import { notCompared, wrong } from "../../../../values/finding.ts"

export const ledgerPath = "data/ledger.jsonl"

export const ledgerFindings = async (
  folder: string,
  files: ReadonlyMap<string, FoundFile>,
  damaged: ReadonlySet<string>
): Promise<ReadonlyArray<BundleFinding>> => {
  const info = files.get("bag-info.txt")
  const read = info && (await textOf(folder, info))
  const [, named] = read && "text" in read ? (/^Ledger-Head: (.*)$/m.exec(read.text) ?? []) : []
  const ledger = files.get(ledgerPath)
  if (ledger === undefined)
    return named === undefined ? [] : [wrong(ledgerPath, "missing; bag-info.txt names its head (Ledger-Head)")]
  if (damaged.has(ledgerPath))
    return [notCompared(ledgerPath, "it differs from a manifest, so its chain was not checked")]
  if (ledger.bytes > textBytesMax)
    return [notCompared(ledgerPath, `it has ${ledger.bytes} bytes; more than ${textBytesMax} are not read`)]
  const { head, problem } = await checkLedger(join(folder, ledgerPath))
  if (problem) return [wrong(ledgerPath, `line ${problem.line}: ${problem.what}`)]
  if (named === undefined) return [notCompared(ledgerPath, "bag-info.txt does not name its head (Ledger-Head)")]
  return named.trim() === headText(head) ? [] : [wrong(ledgerPath, "its head is not the Ledger-Head of bag-info.txt")]
}
