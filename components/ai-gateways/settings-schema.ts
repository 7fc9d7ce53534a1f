import { z } from 'zod';
import { keyOf, problemOf, type Setting } from './settings-fields.ts';

/** Judges the values of a form by the kinds of its settings. */
export const schemaOf = (settings: readonly Setting[]) =>
  z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string())])).superRefine((values, context) => {
    for (const setting of settings) {
      const value = values[keyOf(setting.name)];
      const problem = value === undefined ? undefined : problemOf(setting, value);
      if (problem) context.addIssue({ code: 'custom', path: [keyOf(setting.name)], message: problem });
    }
  });
