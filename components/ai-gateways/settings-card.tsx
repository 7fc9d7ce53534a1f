'use client';

import { useEffect, useState } from 'react';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { Form, useZodForm } from '#components/ui/form.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { SettingField } from './setting-field.tsx';
import { changesOf, keyOf, type Setting, type SettingValues, valuesOf } from './settings-fields.ts';
import type { AgentOptions } from './use-agent-options.ts';

type Row = { id: string; updated_at: string } & Readonly<Record<string, unknown>>;
type Props = {
  title: string;
  description?: string;
  settings: readonly Setting[];
  row: Row;
  of: 'gateway' | 'agent' | 'server';
  /** What is sent, where that isn't the changed settings by their names. */
  body?: (changes: Record<string, unknown>) => Record<string, unknown>;
  options?: Partial<AgentOptions>;
  save: (changes: Record<string, unknown> & { expected_updated_at: string | undefined }) => Promise<unknown>;
  busy: boolean;
};

type Parse = (text: string) => unknown;
/** Numbers of a JSON setting keep their digits; few forms have one. */
const exactReader = (): Promise<Parse> => import('#server/kernel/lossless-json.ts').then(({ parseExact }) => parseExact);

const asTheyAre = (changes: Record<string, unknown>) => changes;

/** Settings of a gateway, agent or MCP server that belong together, saved together: only what was changed is sent. */
export function SettingsCard({ title, description, settings, row, of, body = asTheyAre, options, save, busy }: Props) {
  const forbidden = useForbidden('ai_gateway:update');
  const form = useZodForm({
    schema: () => import('./settings-schema.ts').then(({ schemaOf }) => schemaOf(settings)),
    defaultValues: valuesOf(settings, row),
  });
  const { refusal, panel, refuse, clear, started } = useFormRefusal(form, {
    row,
    values: (latest) => valuesOf(settings, latest),
    labels: Object.fromEntries(settings.map(({ name, label }) => [keyOf(name), label])),
  });
  const dirty = form.formState.isDirty;
  useUnsavedGuard(dirty);
  const values = form.watch() as SettingValues;
  const [parse, setParse] = useState<Parse>();
  const readsJson = dirty && settings.some(({ kind }) => kind === 'json');
  useEffect(() => {
    if (readsJson) void exactReader().then((reader) => setParse(() => reader));
  }, [readsJson]);
  return (
    <SectionCard title={title} description={description}>
      <Form
        form={form}
        refusal={refusal}
        className="max-w-2xl"
        onSubmit={async (value) => {
          clear();
          const reader = readsJson ? await exactReader() : undefined;
          await save({ ...body(changesOf(settings, value, row, reader)), expected_updated_at: started() }).catch(refuse);
        }}
      >
        {panel}
        {settings.map((setting) => (
          <SettingField
            key={setting.name}
            setting={setting}
            form={form}
            value={values[keyOf(setting.name)] ?? ''}
            options={options}
            disabled={forbidden !== undefined}
          />
        ))}
        <ApiEquivalent
          method="PATCH"
          path={
            of === 'gateway'
              ? `/ai-gateway/gateways/${row.id}`
              : of === 'agent'
                ? `/ai-gateway/agents/${row.id}`
                : `/ai-gateway/mcp-servers/${row.id}`
          }
          body={body(changesOf(settings, values, row, parse))}
        />
        <div>
          <Button
            type="submit"
            variant="primary"
            keys="mod+enter"
            loading={busy}
            disabledReason={forbidden ?? (dirty ? undefined : 'No changes to save')}
          >
            Save
          </Button>
        </div>
      </Form>
    </SectionCard>
  );
}
