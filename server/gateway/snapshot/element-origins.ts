import { defineSlice, OF_SPACE } from './slice.ts';

/** Pages that may show hosted fields (interface rule 41 §13). */
export const elementOrigins = defineSlice({
  name: 'elementOrigins',
  tables: ['element_settings'],
  queries: { elements: `select tenant_id, sandbox, origins from element_settings where ${OF_SPACE}` },
  compile: ({ elements }: { elements: { origins: string[] }[] }) => ({
    elementOrigins: new Set(elements.flatMap(({ origins }) => origins)) as ReadonlySet<string>,
  }),
  size: ({ elements }) => elements.reduce((sum, { origins }) => sum + origins.length, 0),
});
