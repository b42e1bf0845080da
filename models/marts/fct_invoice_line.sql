-- An amount that does not fit the column is NULL in its row.
SELECT
  items.location_id,
  items.invoice_id,
  items.position,
  invoices.contact_id,
  invoices.invoice_status,
  invoices.is_live,
  invoices.issue_date,
  items.name AS line_name,
  items.product_id,
  products.product_name,
  items.price_id,
  items.qty,
  items.amount,
  TRY((items.amount * items.qty)::DECIMAL(38, 7)) AS line_amount,
  coalesce(items.currency, invoices.currency) AS currency
FROM {{ ref('stg_invoice_items') }} AS items
JOIN {{ ref('fct_invoice') }} AS invoices USING (location_id, invoice_id)
LEFT JOIN {{ ref('dim_product') }} AS products USING (location_id, product_id)
