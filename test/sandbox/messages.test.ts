import { assert, describe, it } from "vitest"
import { type Json, sandbox } from "./client.ts"

const s = await sandbox({ contacts: 120 })
const { locationId } = s

describe("a conversation", () => {
  it("begins with the first message to a contact, and is deleted with its messages", async () => {
    const { contact } = (await s.post("/contacts/", { locationId, firstName: "Quiet" })).body
    const message = { type: "SMS", contactId: contact.id, message: "hello" }
    const sent = (await s.post("/conversations/messages", message)).body
    assert.equal((await s.post("/conversations/messages", message)).body["conversationId"], sent["conversationId"])
    const one = `/conversations/${sent["conversationId"]}`
    assert.deepEqual((await s.get(one)).body["contactId"], contact.id)
    assert.deepEqual((await s.send("DELETE", one)).body, { success: true })
    for (const path of [one, `${one}/messages`, `/conversations/messages/${sent["messageId"]}`]) {
      assert.equal((await s.get(path)).status, 404, path)
    }
    assert.equal((await s.send("DELETE", one)).status, 404)
  })
})

describe("an email", () => {
  it("can be read by the ids in its message, seeded or sent", async () => {
    const seeded = (await s.records("messages")).find((row) => row["type"] === 3)!
    for (const [index, id] of seeded["meta"].email.messageIds.entries()) {
      const { body } = await s.get(`/conversations/messages/email/${id}`)
      assert.deepEqual([body["id"], body["threadId"], body["contactId"]], [id, seeded["id"], seeded["contactId"]])
      assert.match(body["body"], /<p>/)
      assert.isArray(body["to"])
      if (index > 0) assert.equal(body["replyToMessageId"], seeded["meta"].email.messageIds[index - 1])
    }
    const [{ id: contactId }] = (await s.records("contacts")) as [Json]
    const mail = { type: "Email", contactId, subject: "Your deck", html: "<p>Done</p>" }
    const { messageId } = (await s.post("/conversations/messages", mail)).body
    const message = (await s.get(`/conversations/messages/${messageId}`)).body
    assert.isUndefined(message["body"])
    const written = (await s.get(`/conversations/messages/email/${message["meta"].email.messageIds[0]}`)).body
    assert.deepEqual(
      [written["subject"], written["body"], written["direction"]],
      ["Your deck", "<p>Done</p>", "outbound"]
    )
    for (const id of ["none", messageId, `${messageId}E9`, "E0"]) {
      assert.equal((await s.get(`/conversations/messages/email/${id}`)).status, 404, id)
    }
    assert.isNotEmpty(await s.records("emails"))
  })
})

describe("a call", () => {
  const calls = async (status: string) =>
    (await s.records("messages")).find((row) => row["type"] === 1 && row["meta"]?.callStatus === status)!["id"]
  const fetchText = async (path: string) => {
    const response = await s.fetch(path, { headers: { Version: "v3", Authorization: `Bearer ${s.token}` } })
    return { headers: response.headers, status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
  }

  it("that was answered has a recording", async () => {
    const at = (id: string) => `/conversations/messages/${id}/locations/${locationId}/recording`
    const { bytes, headers } = await fetchText(at(await calls("completed")))
    assert.equal(headers.get("content-type"), "audio/x-wav")
    assert.include(headers.get("content-disposition"), "audio.wav")
    assert.deepEqual([bytes.toString("latin1", 0, 4), bytes.readUInt32LE(4)], ["RIFF", bytes.length - 8])
    assert.equal((await fetchText(at(await calls("answered")))).status, 200)
    assert.equal((await s.get(at(await calls("busy")))).status, 404)
    assert.equal((await s.get(at("none"))).status, 404)
    assert.equal((await s.get(at("x").replace(locationId, "other"))).status, 403)
  })

  it("that was answered has a transcript as sentences and as a file", async () => {
    const at = (id: string) => `/conversations/locations/${locationId}/messages/${id}/transcription`
    const id = await calls("completed")
    const sentences = (await s.get(at(id))).body as Array<Json>
    assert.hasAllKeys(sentences[0], [
      "mediaChannel",
      "sentenceIndex",
      "startTime",
      "endTime",
      "transcript",
      "confidence"
    ])
    const { bytes, headers } = await fetchText(`${at(id)}/download`)
    assert.match(headers.get("content-type") ?? "", /^text\/plain/)
    assert.include(headers.get("content-disposition"), "transcription.txt")
    assert.include(bytes.toString(), sentences[0]!["transcript"])
    for (const path of [at(await calls("busy")), `${at(await calls("busy"))}/download`, at("none")]) {
      assert.equal((await s.get(path)).status, 404, path)
    }
    assert.isTrue((await s.records("transcripts")).some((row) => row["messageId"] === id))
  })
})
