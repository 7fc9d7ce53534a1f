/** One attribute of a schema: what RFC 7643 §7 publishes about it, and three facts of ours. */
export type Attribute = {
  name: string;
  type: 'string' | 'boolean' | 'complex' | 'dateTime' | 'reference';
  multiValued: boolean;
  description: string;
  required: boolean;
  caseExact: boolean;
  mutability: 'readOnly' | 'readWrite' | 'writeOnly';
  returned: 'always' | 'default' | 'never' | 'request';
  uniqueness: 'none' | 'server';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  subAttributes?: readonly Attribute[];
  /** False: accepted in a request and dropped. */
  stored: boolean;
  /** Whether a filter may name it. */
  filterable: boolean;
  /** The most characters of a text, 1,000 unless told otherwise. */
  maxLength: number;
  /** Parts that RFC 7643 knows and this service has no place for: tolerated without a value. */
  tolerated?: readonly string[];
};

export type Schema = { id: string; name: string; description: string; attributes: readonly Attribute[] };

/** A kind of resource. `common` are the attributes that every schema shares (RFC 7643 §3.1): they are in no schema document. */
export type ResourceType = {
  name: string;
  description: string;
  endpoint: string;
  schema: Schema;
  extensions: readonly Schema[];
  common: readonly Attribute[];
  /** Core attributes that RFC 7643 knows and this service has no place for: tolerated without a value (interface rule 23 §6.5). */
  tolerated: readonly string[];
};

/** A single-valued text that is stored, returned, filterable and compared regardless of case, unless told otherwise. */
export const attribute = (name: string, description: string, options: Partial<Attribute> = {}): Attribute => ({
  name,
  type: 'string',
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  stored: true,
  filterable: true,
  maxLength: 1_000,
  ...options,
});

/** An attribute that identity providers send and this service has no use for (interface rule 23 §4). */
export const dropped = (name: string, description: string, options: Partial<Attribute> = {}): Attribute =>
  attribute(name, description, { mutability: 'writeOnly', returned: 'never', stored: false, filterable: false, ...options });

export const ID: Attribute = attribute('id', 'Identifier that the service gave the resource.', {
  caseExact: true,
  mutability: 'readOnly',
  returned: 'always',
  uniqueness: 'server',
});

export const SCHEMAS: Attribute = attribute('schemas', 'The schemas of the resource.', {
  type: 'reference',
  multiValued: true,
  caseExact: true,
  mutability: 'readOnly',
  returned: 'always',
  filterable: false,
});

const readOnly = { caseExact: true, mutability: 'readOnly' } as const;

export const META: Attribute = attribute('meta', 'Facts about the resource.', {
  ...readOnly,
  type: 'complex',
  subAttributes: [
    attribute('resourceType', 'The kind of resource.', { ...readOnly, filterable: false }),
    attribute('created', 'When the resource was created.', { ...readOnly, type: 'dateTime' }),
    attribute('lastModified', 'When the resource was last changed.', { ...readOnly, type: 'dateTime' }),
    attribute('location', 'The address of the resource.', { ...readOnly, type: 'reference', filterable: false }),
  ],
});
