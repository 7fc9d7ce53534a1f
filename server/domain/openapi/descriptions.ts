import type { Descriptions } from '#server/kernel/descriptions.ts';

export const descriptions: Descriptions = {
  about: 'The OpenAPI document of this API.',
  operations: { 'openapi.get': { description: 'Returns the OpenAPI 3.1 description of this API.', success: 'The OpenAPI document.' } },
  fields: {},
  examples: {},
};
