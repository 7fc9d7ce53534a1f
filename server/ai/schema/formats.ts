import formatsModule from 'ajv-formats/dist/formats.js';
import type { Format } from './check.ts';

type Definition = true | RegExp | ((text: string) => boolean) | { type?: string; validate: RegExp | ((value: never) => boolean) };

/** The expression of the package takes the square of the text's length. */
const isUrl = (text: string): boolean => /^(?:https?|ftp):\/\/\S+$/i.test(text) && (URL.parse(text)?.hostname.includes('.') ?? false);

/** The formats of JSON Schema and OpenAPI, as Ajv reads them in its fast mode. Unknown ones are annotations. */
export const FORMATS: ReadonlyMap<string, Format> = new Map(
  Object.entries(formatsModule.fastFormats as Readonly<Record<string, Definition>>).flatMap(([name, definition]): [string, Format][] => {
    if (definition === true) return [];
    if (name === 'url') return [[name, { of: 'string', test: isUrl }]];
    const [type, validate] = 'validate' in definition ? [definition.type, definition.validate] : ['string', definition];
    const test = validate instanceof RegExp ? (text: string) => validate.test(text) : validate;
    return [[name, { of: type === 'number' ? 'number' : 'string', test: test as Format['test'] }]];
  }),
);
