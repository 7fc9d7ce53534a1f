import type { Attribute, ResourceType, Schema } from './attribute.ts';

/** A schema as `/Schemas` publishes it (RFC 7643 §7). */
export const schemaDocument = ({ id, name, description, attributes }: Schema, base: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
  id,
  name,
  description,
  attributes: attributes.map(attributeDocument),
  meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
});

type AttributeDocument = Omit<Attribute, 'stored' | 'filterable' | 'maxLength' | 'tolerated' | 'subAttributes'> & {
  subAttributes?: AttributeDocument[];
};

/** A part that is accepted and dropped is not published when the rest of its attribute is kept: clients would expect it back. */
function attributeDocument({ stored, filterable, maxLength, tolerated, subAttributes, ...published }: Attribute): AttributeDocument {
  if (!subAttributes) return published;
  return { ...published, subAttributes: subAttributes.filter((part) => part.stored || !stored).map(attributeDocument) };
}

/** A kind of resource as `/ResourceTypes` publishes it (RFC 7643 §6). */
export const resourceTypeDocument = ({ name, description, endpoint, schema, extensions }: ResourceType, base: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  id: name,
  name,
  description,
  endpoint,
  schema: schema.id,
  schemaExtensions: extensions.map((extension) => ({ schema: extension.id, required: false })),
  meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
});
