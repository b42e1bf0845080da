import { blogRoutes } from "./commerce/blogs.ts"
import { formUploadRoutes } from "./commerce/form-upload.ts"
import { formRoutes, surveyRoutes } from "./commerce/forms.ts"
import { funnelRoutes } from "./commerce/funnels.ts"
import { socialSearchRoutes } from "./commerce/social-search.ts"
import { socialRoutes } from "./commerce/social.ts"
import { couponRoutes } from "./commerce/coupons.ts"
import { documentTemplateRoutes } from "./commerce/document-templates.ts"
import { emailCampaignRoutes } from "./commerce/email-campaigns.ts"
import { emailTemplateListRoutes } from "./commerce/email-template-list.ts"
import { emailTemplateRoutes } from "./commerce/email-templates.ts"
import { estimateRoutes } from "./commerce/estimates.ts"
import { invoiceActionRoutes } from "./commerce/invoice-actions.ts"
import { invoiceRoutes } from "./commerce/invoices.ts"
import { orderActionRoutes } from "./commerce/order-actions.ts"
import { orderRoutes } from "./commerce/orders.ts"
import { priceRoutes } from "./commerce/prices.ts"
import { productBulkRoutes } from "./commerce/product-bulk.ts"
import { productRoutes } from "./commerce/products.ts"
import { transactionRoutes } from "./commerce/transactions.ts"
import { appointmentRoutes } from "./resources/appointments.ts"
import { calendarRoutes } from "./resources/calendars.ts"
import { contactRoutes } from "./resources/contacts.ts"
import { contactDuplicateRoutes } from "./resources/contact-duplicates.ts"
import { contactTagRoutes } from "./resources/contact-tags.ts"
import { contactTaskRoutes } from "./resources/contact-tasks.ts"
import { contactUpsertRoutes } from "./resources/contact-upsert.ts"
import { contactSearchRoutes } from "./resources/contact-search.ts"
import { conversationWriteRoutes } from "./resources/conversation-writes.ts"
import { conversationRoutes } from "./resources/conversations.ts"
import { customFieldRoutes } from "./resources/custom-fields.ts"
import { customFieldUploadRoutes } from "./resources/custom-field-upload.ts"
import { locationListRoutes } from "./resources/location-lists.ts"
import { locationRoutes } from "./resources/locations.ts"
import { messageExportRoutes } from "./resources/message-export.ts"
import { messageRoutes } from "./resources/messages.ts"
import { noteRoutes } from "./resources/notes.ts"
import { objectFieldRoutes } from "./resources/object-fields.ts"
import { opportunityRoutes } from "./resources/opportunities.ts"
import { opportunityPostSearchRoutes } from "./resources/opportunity-post-search.ts"
import { opportunitySearchRoutes } from "./resources/opportunity-search.ts"
import { opportunityUpsertRoutes } from "./resources/opportunity-upsert.ts"
import { pipelineRoutes } from "./resources/pipelines.ts"
import { recordingRoutes } from "./resources/recordings.ts"
import { recurringTaskRoutes } from "./resources/recurring-tasks.ts"
import { userRoutes } from "./resources/users.ts"
import { userWriteRoutes } from "./resources/user-writes.ts"
import { workflowRoutes } from "./resources/workflows.ts"
import type { Route } from "./route.ts"

/** Every operation the sandbox serves. */
export const routes: ReadonlyArray<Route> = [
  ...contactRoutes,
  ...contactSearchRoutes,
  ...contactUpsertRoutes,
  ...contactDuplicateRoutes,
  ...contactTagRoutes,
  ...contactTaskRoutes,
  ...noteRoutes,
  ...pipelineRoutes,
  ...opportunityRoutes,
  ...opportunityUpsertRoutes,
  ...opportunitySearchRoutes,
  ...opportunityPostSearchRoutes,
  ...calendarRoutes,
  ...appointmentRoutes,
  ...userRoutes,
  ...userWriteRoutes,
  ...locationRoutes,
  ...locationListRoutes,
  ...recurringTaskRoutes,
  ...customFieldRoutes,
  ...customFieldUploadRoutes,
  ...objectFieldRoutes,
  ...workflowRoutes,
  ...conversationRoutes,
  ...conversationWriteRoutes,
  ...recordingRoutes,
  ...messageRoutes,
  ...messageExportRoutes,
  ...emailTemplateListRoutes,
  ...emailTemplateRoutes,
  ...emailCampaignRoutes,
  ...productRoutes,
  ...productBulkRoutes,
  ...priceRoutes,
  ...invoiceRoutes,
  ...invoiceActionRoutes,
  ...estimateRoutes,
  ...documentTemplateRoutes,
  ...orderRoutes,
  ...orderActionRoutes,
  ...transactionRoutes,
  ...couponRoutes,
  ...socialSearchRoutes,
  ...socialRoutes,
  ...blogRoutes,
  ...funnelRoutes,
  ...formUploadRoutes,
  ...surveyRoutes,
  ...formRoutes
]
