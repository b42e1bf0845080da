/** Objects in a bucket. */
import { type Bucket, openBucket } from "../../../stores/objects/bucket.ts"

export interface Objects {
  /** Undefined if there is none. */
  readonly get: (name: string) => Promise<Buffer | undefined>
  readonly put: (name: string, content: Uint8Array<ArrayBuffer>) => Promise<void>
  readonly remove: (name: string) => Promise<void>
}

const outageMsMax = 60_000

export const openObjects = async (bucket: Bucket): Promise<Objects> => {
  const { send } = await openBucket(bucket, { outageMsMax })
  return {
    get: async (name) => {
      const { body, status } = await send("GET", name, { accept: [404] })
      return status === 404 ? undefined : body
    },
    put: async (name, content) => void (await send("PUT", name, { body: content })),
    remove: async (name) => void (await send("DELETE", name, { accept: [404] }))
  }
}
