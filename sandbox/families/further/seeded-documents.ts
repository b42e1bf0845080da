import { iso } from "../../account/clock.ts"
import { cents } from "../../account/seeded.ts"
import { type Make, further, times } from "./parts.ts"

const statuses = ["completed", "sent", "draft", "viewed", "accepted"]
/** What no store may have: a test looks for it. */
export const secretText = "SecretOfSomebodyElse"
const picture = `data:image/png;base64,${secretText}`

export const documentCollections: Record<"documents" | "documentTemplates", Make> = {
  documents: further(
    30,
    ({ owners }) => owners.share(0.15, 8),
    (draw, { context, owners }) => {
      const { id, index, random } = draw
      const who = owners.of(230, index)
      const status = statuses[index % 5]!
      const isSigned = status === "completed"
      return {
        _id: id,
        documentId: `d-${id}`,
        locationId: context.locationId,
        name: `Contract ${index} – ${who.name}`,
        type: "proposal",
        deleted: index % 11 === 10,
        isExpired: false,
        documentRevision: index % 3,
        // Declared as a list, and shown as a text.
        status: index % 4 === 3 ? ["draft", status] : status,
        paymentStatus: isSigned ? "paid" : "no_payment",
        locale: "en-US",
        grandTotal: {
          amount: cents(random.between(100, 9000) + 0.25),
          currency: "EUR",
          discountPercentage: 10,
          discounts: [{ id: "x1", value: 10, type: "percentage" }]
        },
        recipients: [
          {
            id: who.id,
            entityName: "contacts",
            firstName: who.firstName,
            email: who.email,
            phone: who.phone,
            hasCompleted: isSigned,
            role: "signer",
            isPrimary: true,
            signingOrder: 1,
            ...(isSigned && {
              ip: "192.0.2.7",
              signedDate: iso(draw.entry.updated),
              imgUrl: picture,
              initialsImgUrl: picture
            }),
            shareLink: `https://sign.example/${secretText}`
          },
          {
            id: context.userIds[0],
            email: "office@example.com",
            hasCompleted: true,
            role: "user",
            isPrimary: false,
            signingOrder: 2
          }
        ],
        fillableFields: [
          {
            fieldId: "text_1",
            isRequired: true,
            hasCompleted: isSigned,
            recipient: who.id,
            entityType: "contacts",
            id: "ff1",
            type: "TextField",
            value: "Plot 12"
          },
          {
            fieldId: "sign_1",
            isRequired: true,
            hasCompleted: isSigned,
            recipient: who.id,
            entityType: "contacts",
            id: "ff2",
            type: "Signature",
            value: picture
          }
        ],
        ...(status !== "draft" && {
          links: [
            {
              referenceId: secretText,
              documentId: `d-${id}`,
              recipientId: who.id,
              entityName: "contacts",
              recipientCategory: "recipient",
              documentRevision: 1,
              createdBy: context.userIds[0],
              deleted: false
            }
          ]
        }),
        ...times(draw)
      }
    }
  ),
  documentTemplates: further(31, 4, (draw, { context }) => ({
    _id: draw.id,
    id: draw.id,
    deleted: false,
    version: 2,
    name: ["Contract", "Offer", "Terms", "=Letter"][draw.index],
    locationId: context.locationId,
    type: ["proposal", "estimate", "contentLibrary", "proposal"][draw.index],
    updatedBy: context.userIds[0],
    isPublicDocument: false,
    ...times(draw)
  }))
}
