'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import type { PriceRow } from './rows.ts';

const RATES = [
  { name: 'input_per_mtok', label: 'Input', hint: undefined },
  { name: 'output_per_mtok', label: 'Output', hint: undefined },
  { name: 'cached_input_per_mtok', label: 'Cached input', hint: 'Empty: as input.' },
  { name: 'cache_write_per_mtok', label: 'Cache write', hint: 'Empty: as input.' },
  { name: 'reasoning_per_mtok', label: 'Reasoning', hint: 'Empty: as output.' },
  { name: 'per_request_usd', label: 'Per request, in USD', hint: undefined },
  { name: 'input_per_mchar', label: 'Per million characters spoken', hint: 'Speech.' },
  { name: 'per_audio_minute_usd', label: 'Per minute of audio, in USD', hint: 'Transcription.' },
] as const;

const amount = z.string().regex(/^(?:\d{1,7}(?:\.\d{1,6})?)?$/, 'must be an amount such as 2.50');
const PriceFields = z.object({
  provider: z.string().trim().min(1, 'is required'),
  model: z.string().trim().min(1, 'is required').max(200),
  input_per_mtok: amount,
  output_per_mtok: amount,
  cached_input_per_mtok: amount,
  cache_write_per_mtok: amount,
  reasoning_per_mtok: amount,
  per_request_usd: amount,
  input_per_mchar: amount,
  per_audio_minute_usd: amount,
});

type Props = { open: boolean; given: { provider: string; model: string } | undefined; price: PriceRow | undefined; onClose: () => void };

/** Sets a price of one's own for a model. Calls from now on are charged with it. */
export function PriceSheet({ open, given, price, onClose }: Props) {
  return (
    <Sheet
      open={open}
      onOpenChange={(next) => next || onClose()}
      dismissible={false}
      title={given ? `Price of ${given.model}` : 'Set a price'}
    >
      {open && <PriceForm given={given} price={price} onClose={onClose} />}
    </Sheet>
  );
}

const text = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value));

function PriceForm({ given, price, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const form = useZodForm({
    schema: PriceFields,
    defaultValues: {
      provider: given?.provider ?? 'openai',
      model: given?.model ?? '',
      input_per_mtok: text(price?.input_per_mtok),
      output_per_mtok: text(price?.output_per_mtok),
      cached_input_per_mtok: text(price?.cached_input_per_mtok),
      cache_write_per_mtok: text(price?.cache_write_per_mtok),
      reasoning_per_mtok: text(price?.reasoning_per_mtok),
      per_request_usd: text(price?.per_request_usd),
      input_per_mchar: text(price?.input_per_mchar),
      per_audio_minute_usd: text(price?.per_audio_minute_usd),
    },
  });
  const { refusal, panel, refuse, clear } = useFormRefusal(form);
  useUnsavedGuard(form.formState.isDirty);
  const put = useMutation(
    trpc.aiSpend.putPrice.mutationOptions({
      onError: refuse,
      onSuccess: () => {
        notifyDone('Price saved. It counts from now on');
        onClose();
        return cache.invalidateQueries(trpc.aiSpend.pathFilter());
      },
    }),
  );
  const values = form.watch();
  const provider = values.provider || 'PROVIDER';
  const model = encodeURIComponent(values.model || 'MODEL');
  const rates = (of: z.output<typeof PriceFields>) =>
    Object.fromEntries(RATES.filter(({ name }) => of[name] !== '').map(({ name }) => [name, Number(of[name])]));
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        put.mutate({ provider: value.provider, model: value.model, ...rates(value) });
      }}
    >
      {panel}
      <Field label="Provider" required error={fieldError(form, 'provider')}>
        <Input mono autoComplete="off" readOnly={given !== undefined} {...form.register('provider')} />
      </Field>
      <Field label="Model" required error={fieldError(form, 'model')} hint="A * at its end stands for anything, such as my-model-*.">
        <Input mono autoComplete="off" readOnly={given !== undefined} placeholder="claude-sonnet-5" {...form.register('model')} />
      </Field>
      <p className="text-ink-2 text-sm">In USD per million tokens:</p>
      <div className="grid gap-3 sm:grid-cols-2">
        {RATES.map(({ name, label, hint }) => (
          <Field key={name} label={label} optional={name !== 'input_per_mtok'} error={fieldError(form, name)} hint={hint}>
            <Input inputMode="decimal" autoComplete="off" {...form.register(name)} />
          </Field>
        ))}
      </div>
      <ApiEquivalent method="PUT" path={`/ai-gateway/prices/${provider}/${model}`} body={rates(values)} />
      <SheetFooter>
        <SpaceNote space={space} />
        <div className="ml-auto flex gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" keys="mod+enter" loading={put.isPending}>
            Save price
          </Button>
        </div>
      </SheetFooter>
    </Form>
  );
}
