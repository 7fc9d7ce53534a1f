'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Fragment } from 'react';
import { z } from 'zod';
import { ApiEquivalent } from '#components/shell/api-equivalent.tsx';
import { useFormRefusal } from '#components/trpc/form-refusal.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { Form, fieldError, useZodForm } from '#components/ui/form.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Sheet, SheetFooter } from '#components/ui/sheet.tsx';
import { SpaceNote } from '#components/ui/test-band.tsx';
import { notifyDone } from '#components/ui/toaster.tsx';
import { useUnsavedGuard } from '#components/ui/unsaved-guard.ts';
import { imageLines, imageRows } from './image-prices.ts';
import type { PriceRow } from './rows.ts';

const TOKENS = [
  { name: 'input_per_mtok', label: 'Input', hint: undefined },
  { name: 'output_per_mtok', label: 'Output', hint: undefined },
  { name: 'cached_input_per_mtok', label: 'Cached input', hint: 'Empty: as input.' },
  { name: 'cache_write_per_mtok', label: 'Cache write', hint: 'Empty: as input.' },
  { name: 'reasoning_per_mtok', label: 'Reasoning', hint: 'Empty: as output.' },
  { name: 'image_input_per_mtok', label: 'Pictures in the input', hint: 'Empty: as input.' },
  { name: 'image_output_per_mtok', label: 'Pictures in the output', hint: 'Empty: as output.' },
] as const;
const PIECES = [
  { name: 'per_request_usd', label: 'Per request', hint: undefined },
  { name: 'per_image_usd', label: 'Per image', hint: 'Of every size and quality that has no price below.' },
  { name: 'per_input_image_usd', label: 'Per picture sent along', hint: 'Edits of images.' },
  { name: 'input_per_mchar', label: 'Per million characters spoken', hint: 'Speech.' },
  { name: 'per_audio_minute_usd', label: 'Per minute of audio', hint: 'Transcription.' },
] as const;
const SHARES = [
  { name: 'flex_discount', label: 'Flex tier', hint: 'Share it is cheaper by, such as 0.5.' },
  { name: 'priority_surcharge', label: 'Priority tier', hint: 'Share it is dearer by: 1 is twice the price.' },
  { name: 'batch_discount', label: 'Batch', hint: 'Share it is cheaper by, such as 0.5.' },
] as const;
const GROUPS = [
  { title: 'In USD per million tokens:', fields: TOKENS },
  { title: 'In USD by the piece:', fields: PIECES },
  { title: 'Shares of these prices. Calls of a tier without one are charged in full, with a warning:', fields: SHARES },
] as const;
const NUMBERS = [...TOKENS, ...PIECES, ...SHARES].map(({ name }) => name);

const amount = z.string().regex(/^(?:\d{1,7}(?:\.\d{1,6})?)?$/, 'must be an amount such as 2.50');
const share = z.string().regex(/^(?:\d{1,2}(?:\.\d{1,4})?)?$/, 'must be a share such as 0.5');
const PriceFields = z.object({
  provider: z.string().trim().min(1, 'is required'),
  model: z.string().trim().min(1, 'is required').max(200),
  input_per_mtok: amount,
  output_per_mtok: amount,
  cached_input_per_mtok: amount,
  cache_write_per_mtok: amount,
  reasoning_per_mtok: amount,
  image_input_per_mtok: amount,
  image_output_per_mtok: amount,
  per_request_usd: amount,
  per_image_usd: amount,
  per_input_image_usd: amount,
  input_per_mchar: amount,
  per_audio_minute_usd: amount,
  flex_discount: share,
  priority_surcharge: share,
  batch_discount: share,
  image_prices: z
    .string()
    .refine((text) => imageRows(text) !== undefined, 'must have a size, a quality and an amount on each line, such as 1024x1024 hd 0.08'),
});
type PriceValues = z.output<typeof PriceFields>;

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

/** Members that this form doesn't show stay as they are: a price is replaced as a whole. */
const UNSHOWN = [
  'cache_write_1h_per_mtok',
  'tier_threshold_tokens',
  'tier_input_per_mtok',
  'tier_output_per_mtok',
  'tier_cached_input_per_mtok',
  'tier_cache_write_per_mtok',
  'web_search_usd',
] as const;

/** What the form says, as the API takes it. */
function bodyOf(values: PriceValues, price: PriceRow | undefined) {
  const shown = Object.fromEntries(NUMBERS.flatMap((name) => (values[name] === '' ? [] : [[name, Number(values[name])] as const])));
  const kept = Object.fromEntries(
    UNSHOWN.flatMap((name) => {
      const value = price?.[name] ?? null;
      return value === null ? [] : [[name, value] as const];
    }),
  );
  const image_prices = imageRows(values.image_prices) ?? [];
  return { ...shown, ...kept, ...(image_prices.length > 0 && { image_prices }) };
}

function PriceForm({ given, price, onClose }: Omit<Props, 'open'>) {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { space } = useScope();
  const form = useZodForm({
    schema: PriceFields,
    defaultValues: {
      provider: given?.provider ?? 'openai',
      model: given?.model ?? '',
      ...(Object.fromEntries(NUMBERS.map((name) => [name, text(price?.[name])])) as Record<(typeof NUMBERS)[number], string>),
      image_prices: imageLines(price?.image_prices ?? []),
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
  return (
    <Form
      form={form}
      refusal={refusal}
      className="grow"
      onSubmit={(value) => {
        clear();
        put.mutate({ provider: value.provider, model: value.model, ...bodyOf(value, price) });
      }}
    >
      {panel}
      <Field label="Provider" required error={fieldError(form, 'provider')}>
        <Input mono autoComplete="off" readOnly={given !== undefined} {...form.register('provider')} />
      </Field>
      <Field label="Model" required error={fieldError(form, 'model')} hint="A * at its end stands for anything, such as my-model-*.">
        <Input mono autoComplete="off" readOnly={given !== undefined} placeholder="claude-sonnet-5" {...form.register('model')} />
      </Field>
      {GROUPS.map(({ title, fields }) => (
        <Fragment key={title}>
          <p className="text-ink-2 text-sm">{title}</p>
          <div className="grid gap-3 sm:grid-cols-2">
            {fields.map(({ name, label, hint }) => (
              <Field key={name} label={label} optional={name !== 'input_per_mtok'} error={fieldError(form, name)} hint={hint}>
                <Input inputMode="decimal" autoComplete="off" {...form.register(name)} />
              </Field>
            ))}
          </div>
        </Fragment>
      ))}
      <Field
        label="Images by size and quality"
        optional
        error={fieldError(form, 'image_prices')}
        hint="A size, a quality and USD per image on each line; * stands for any. The first line is the provider's default."
      >
        <Textarea mono rows={4} placeholder={'1024x1024 standard 0.04\n1024x1024 hd 0.08'} {...form.register('image_prices')} />
      </Field>
      <ApiEquivalent method="PUT" path={`/ai-gateway/prices/${provider}/${model}`} body={bodyOf(values, price)} />
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
