'use client';

import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { SecretInput } from '#components/ui/secret-input.tsx';
import { Select } from '#components/ui/select.tsx';
import { type ApiField, type ApiOperation, kindOf, withoutNull } from './document.ts';
import type { Draft } from './draft.ts';
import { familyOf, IdPicker } from './id-picker.tsx';

const places = [
  ['path', 'Path', 'inPath'],
  ['query', 'Query', 'inQuery'],
  ['body', 'Body', 'inBody'],
  ['headers', 'Headers', 'inHeader'],
] as const;

/** The form of an operation, made from its schema. */
export function Fields({ op, draft, onDraft }: { op: ApiOperation; draft: Draft; onDraft: (draft: Draft) => void }) {
  return places.map(([place, title, list]) =>
    op[list].length === 0 ? null : (
      <fieldset key={place} className="flex min-w-0 flex-col gap-3">
        <legend className="mb-2 font-medium text-ink-3 text-xs">{title}</legend>
        {op[list].map((field) => (
          <OneField
            key={field.name}
            field={field}
            path={op.path}
            value={draft[place][field.name] ?? ''}
            onValue={(text) => onDraft({ ...draft, [place]: { ...draft[place], [field.name]: text } })}
          />
        ))}
      </fieldset>
    ),
  );
}

type OneFieldProps = { field: ApiField; path: string; value: string; onValue: (text: string) => void };

function OneField({ field: { name, required, schema }, path, value, onValue }: OneFieldProps) {
  const kind = kindOf(schema);
  const family = kind === 'text' ? familyOf(name, path) : undefined;
  const { schema: plain } = withoutNull(schema);
  return (
    <Field label={<code className="font-mono text-xs">{name}</code>} required={required} hint={hintOf(kind, plain)}>
      {family ? (
        <IdPicker
          family={family}
          byName={family === 'environments' && !name.endsWith('_id')}
          value={value}
          onValue={onValue}
          label={name}
        />
      ) : kind === 'choice' || kind === 'flag' ? (
        <Select
          options={[
            { value: '', label: 'Not sent' },
            ...(kind === 'flag' ? ['true', 'false'] : (plain.enum ?? []).map(String)).map((one) => ({ value: one, label: one })),
          ]}
          value={value}
          onValueChange={onValue}
        />
      ) : kind === 'secret' ? (
        <SecretInput value={value} onChange={(event) => onValue(event.target.value)} />
      ) : kind === 'json' ? (
        <Textarea mono value={value} onChange={(event) => onValue(event.target.value)} placeholder={plain.type === 'array' ? '[]' : '{}'} />
      ) : (
        <Input
          mono
          value={value}
          inputMode={kind === 'number' ? 'numeric' : undefined}
          placeholder={exampleOf(plain.examples?.[0] ?? plain.default)}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  );
}

const exampleOf = (example: unknown) =>
  example === undefined || example === null || typeof example === 'object' ? undefined : String(example);

function hintOf(kind: string, schema: ApiField['schema']): string | undefined {
  if (schema.description) return schema.description;
  if (kind === 'words') return 'Several, separated by commas.';
  if (kind === 'json') return 'As JSON.';
  if (kind === 'secret') return 'Sent once and kept nowhere here, not in the history either.';
  if (schema.format === 'date-time') return 'A time such as 2027-01-31T12:00:00Z.';
  return undefined;
}
