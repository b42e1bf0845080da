/** Objects in a bucket. */
import { type Bucket, openBucket } from "../../../stores/objects/bucket.ts"

const outageMsMax = 60_000

export type Objects = Awaited<ReturnType<typeof openObjects>>
export const openObjects = async (bucket: Bucket) => {
  const { send } = await openBucket(bucket, { outageMsMax })
  return {
    /** Undefined if there is none. */
    get: async (name: string) => {
      const { body, status } = await send("GET", name, { accept: [404] })
      return status === 404 ? undefined : body
    },
    put: async (name: string, content: Uint8Array<ArrayBuffer>): Promise<void> =>
      void (await send("PUT", name, { body: content })),
    remove: async (name: string): Promise<void> => void (await send("DELETE", name, { accept: [404] }))
  }
}
