/** Which links are one: those that differ in nothing but a signature that expires. */
import { assert, describe, it } from "@effect/vitest"
import { inDatabase } from "../support/compare.ts"
import { linkSql } from "../../src/stores/warehouse/file-links.ts"

const at = "https://host.example/file"
const sameOf = ([one, other]: readonly [string, string]) =>
  inDatabase(
    ":memory:",
    async (ask) => {
      const [row] = await ask(`SELECT ${linkSql(`'${at}${one}'`)} = ${linkSql(`'${at}${other}'`)} AS same`)
      return row!["same"]
    },
    "READ_WRITE"
  )

describe("two links", () => {
  it.each<[string, string, string]>([
    ["S3", "?X-Amz-Date=1&X-Amz-Expires=60&X-Amz-Signature=a", "?X-Amz-Date=2&X-Amz-Expires=90&X-Amz-Signature=b"],
    ["S3, with another parameter", "?v=1&X-Amz-Date=1&X-Amz-Signature=a", "?v=1&X-Amz-Signature=b&X-Amz-Date=2"],
    ["the older S3", "?AWSAccessKeyId=k&Expires=1&Signature=a", "?AWSAccessKeyId=k&Expires=2&Signature=b"],
    ["Google", "?X-Goog-Date=1&X-Goog-Signature=a", "?X-Goog-Date=2&X-Goog-Signature=b"],
    ["Azure", "?sv=1&se=1&sr=b&sp=r&sig=a", "?sv=1&se=2&sr=b&sp=r&sig=b"],
    ["CloudFront", "?Expires=1&Signature=a&Key-Pair-Id=k", "?Expires=2&Signature=b&Key-Pair-Id=k"],
    ["a part of the page", "#one", "#two"]
  ])("are one if only the signature of %s differs", async (_, ...links) => assert.isTrue(await sameOf(links)))

  it.each([
    ["?token=AAAA1", "?token=BBBB2"],
    ["?sig=a", "?sig=b"],
    ["?st=1", "?st=2"],
    ["?policy=a", "?policy=b"],
    ["?expires=1", "?expires=2"],
    ["?Expires=1&Signature=a", "?Expires=1&Signature=b"],
    ["?sig=a&se=1", "?sig=b&se=1"],
    ["?v=1&X-Amz-Signature=a", "?v=2&X-Amz-Signature=a"],
    ["?X-Amz-Document=1&X-Amz-Signature=a", "?X-Amz-Document=2&X-Amz-Signature=b"],
    ["?X-Amz-Date=1", "?X-Amz-Date=2"]
  ])("are two if %s is %s, which may say what file is meant", async (...links) => assert.isFalse(await sameOf(links)))
})
