import { type IdPicker, idPickers } from './id-pickers.ts';

/** The picker of a family, for a field that takes its IDs or, with `byName`, its names. */
export type FieldPicker = IdPicker & { byName: boolean };

/** Which family's IDs or names a field takes; undefined where they cannot be chosen from a list. */
export function pickerOf(field: string, path: string): FieldPicker | undefined {
  for (const [name, picker] of Object.entries(idPickers)) {
    // `id` and `name` are those of the family that they stand right behind in the path: further on, `id` is that of something below it.
    if ((field === 'id' || field === 'name') && !path.startsWith(`${picker.path ?? `/${name}/`}{${field}}`)) continue;
    if (picker.nameFields?.includes(field)) return { ...picker, byName: true };
    if (field === 'id' || picker.fields.includes(field)) return { ...picker, byName: false };
  }
  return undefined;
}
