-- What a route does to single values of its requests and responses (interface rule 10 §8). Keys and vaults are named, as callers name them: their names
-- never change, and neither is deleted while an action names it.
CREATE TABLE "route_field_actions" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "route_id" UUID NOT NULL,
    "direction" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "location" TEXT NOT NULL DEFAULT 'body',
    "selectors" TEXT[] NOT NULL,
    "key_name" TEXT,
    "data_role" TEXT,
    "content_type" TEXT,
    "mode" TEXT NOT NULL DEFAULT 'strict',
    "mask" TEXT,
    "signature_header" TEXT,
    "signature_member" TEXT,
    "sort_order" INTEGER NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "route_field_actions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "route_field_actions_direction_check" CHECK (direction IN ('request', 'response')),
    CONSTRAINT "route_field_actions_action_check" CHECK (action IN ('encrypt', 'decrypt', 'tokenize', 'detokenize', 'sign', 'mask')),
    CONSTRAINT "route_field_actions_location_check" CHECK (location = 'body' OR location = 'header' OR (location = 'query' AND direction = 'request')),
    CONSTRAINT "route_field_actions_mode_check" CHECK (mode IN ('strict', 'lenient')),
    CONSTRAINT "route_field_actions_selectors_check" CHECK (cardinality(selectors) BETWEEN 1 AND 50),
    CONSTRAINT "route_field_actions_key_name_check" CHECK ((key_name IS NULL) = (action = 'mask')),
    CONSTRAINT "route_field_actions_content_type_check" CHECK ((content_type IS NOT NULL) = (location = 'body')
      AND content_type IN ('application/json', 'application/x-www-form-urlencoded', 'application/x-ndjson')),
    CONSTRAINT "route_field_actions_mask_check" CHECK ((mask IS NOT NULL) = (action = 'mask') AND mask IN ('last4', 'full', 'email')),
    CONSTRAINT "route_field_actions_signature_check" CHECK (num_nonnulls(signature_header, signature_member) = (action = 'sign')::int)
);
CREATE INDEX "route_field_actions_route_id_sort_order_idx" ON "route_field_actions"("route_id", "sort_order");
CREATE INDEX "route_field_actions_tenant_id_sandbox_key_name_idx" ON "route_field_actions"("tenant_id", "sandbox", "key_name");
ALTER TABLE "route_field_actions" ADD CONSTRAINT "route_field_actions_route_id_tenant_id_sandbox_fkey" FOREIGN KEY ("route_id", "tenant_id", "sandbox") REFERENCES "routes"("id", "tenant_id", "sandbox") ON DELETE CASCADE ON UPDATE CASCADE;
SELECT register_table('route_field_actions', 'space', announced => true);
