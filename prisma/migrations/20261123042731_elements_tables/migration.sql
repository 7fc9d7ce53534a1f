-- Origins of pages that may show hosted fields, a list per space. Gateways name them in frame-ancestors.
CREATE TABLE "element_settings" (
    "tenant_id" UUID NOT NULL,
    "sandbox" BOOLEAN NOT NULL,
    "origins" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "element_settings_pkey" PRIMARY KEY ("tenant_id","sandbox"),
    CONSTRAINT "element_settings_origins" CHECK (cardinality("origins") <= 20)
);

SELECT register_table('element_settings', 'space', announced => true);
