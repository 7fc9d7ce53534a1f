import type { z } from 'zod';
import type { Price as KnownPrice } from '#server/ai/prices/price.ts';
import { RATES, type Rate } from '#server/ai/prices/rates.ts';
import { PROVIDERS } from '#server/ai/providers/catalogue.ts';
import { systemPrices } from '#server/custody/ai/prices.ts';
import { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { type Page, pageOfAll } from '#server/kernel/page.ts';
import { type ListPrices, ModelName, PRICE_MEMBERS, type Price, type PutPrice } from './schema.ts';

type PriceRow = Prisma.ai_pricesGetPayload<object>;

const MOST_OVERRIDES = 1_000;
/** What calls by a route of the workspace's own are counted under. */
const CUSTOM = 'custom';

/** Every price that counts now, by provider and model: the workspace's own where it has one, else the system's. */
export function listPrices(
  ctx: Ctx,
  { provider, q, overrides, ...page }: z.output<typeof ListPrices>,
): Promise<Page<ReturnType<typeof shown>>> {
  return read(ctx, async (tx) => {
    const own = await overridesOf(tx, ctx);
    const system = overrides ? [] : systemNow(ctx.now).filter(({ provider, model }) => !own.has(nameOf(provider, model)));
    const wanted = q?.toLowerCase();
    const all = [...[...own.values()].map((row) => shownOverride(row)), ...system.map(shownSystem)]
      .filter(
        (row) =>
          (provider === undefined || row.provider === provider) && (wanted === undefined || row.model.toLowerCase().includes(wanted)),
      )
      .sort((a, b) => compare(a.provider, b.provider) || compare(a.model, b.model));
    return pageOfAll(all, page);
  });
}

/** A price of the workspace's own from now on; the one before stays with the calls that it was reckoned for. @throws Refusal not_found for an unknown provider */
export function putPrice(ctx: Ctx, { provider, model: asked, image_prices, ...given }: z.output<typeof PutPrice>) {
  const model = namedModel(provider, asked);
  return mutate(ctx, async (tx) => {
    await inTurn(tx, ctx);
    const known = await overridesOf(tx, ctx);
    const before = known.get(nameOf(provider, model));
    if (!before && known.size >= MOST_OVERRIDES)
      throw new Refusal('conflict', `A space has at most ${grouped(MOST_OVERRIDES)} prices of its own.`);
    const row = await tx.ai_prices.create({
      data: {
        ...own(ctx),
        id: newId(),
        provider,
        model,
        ...given,
        image_prices: image_prices ?? Prisma.DbNull,
        effective_from: await instant(tx, ctx, provider, model),
        created_by: makerOf(ctx),
        created_at: ctx.now,
      },
    });
    const after = shownOverride(row);
    const earlier = before && shownOverride(before);
    return audited(after, {
      action: 'update',
      resource_type: 'ai_price',
      resource_id: row.id,
      name: `${provider}/${model}`,
      changes: PRICE_MEMBERS.flatMap((name) => {
        const [from, to] = [earlier?.[name] ?? null, after[name]];
        return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ field: name, from, to }];
      }),
    });
  });
}

/** The system's price counts again, or the model is unpriced. @throws Refusal not_found */
export function deletePrice(ctx: Ctx, { provider, model }: { provider: string; model: string }) {
  return mutate(ctx, async (tx) => {
    await inTurn(tx, ctx);
    const before = (await overridesOf(tx, ctx)).get(nameOf(provider, model));
    if (!before) throw notFound();
    await tx.ai_prices.create({
      data: {
        ...own(ctx),
        id: newId(),
        provider,
        model,
        withdrawn: true,
        effective_from: await instant(tx, ctx, provider, model),
        created_by: makerOf(ctx),
        created_at: ctx.now,
      },
    });
    return audited(
      { deleted: true as const },
      { action: 'delete', resource_type: 'ai_price', resource_id: before.id, name: `${provider}/${model}` },
    );
  });
}

/** What a path names. @throws Refusal not_found for what no provider or model can be called */
function namedModel(provider: string, model: string): string {
  const name = ModelName.safeParse(model);
  if ((provider !== CUSTOM && !PROVIDERS.some(({ id }) => id === provider)) || !name.success) throw notFound();
  return name.data;
}

const inTurn = (tx: Tx, ctx: Ctx) => holdLock(tx, `${ctx.tenant_id}:ai_prices:${ctx.sandbox}`);
const makerOf = ({ actor }: Ctx): string | null => (actor.type === 'member' ? actor.id : null);

/** Now, but after the change before: two in one millisecond have an order too. */
async function instant(tx: Tx, ctx: Ctx, provider: string, model: string): Promise<Date> {
  const last = await tx.ai_prices.findFirst({
    where: { ...own(ctx), provider, model },
    orderBy: { effective_from: 'desc' },
    select: { effective_from: true },
  });
  return new Date(Math.max(ctx.now.getTime(), (last?.effective_from.getTime() ?? 0) + 1));
}

/** The workspace's own prices in force, by name. */
async function overridesOf(tx: Tx, ctx: Ctx): Promise<Map<string, PriceRow>> {
  const rows = await tx.ai_prices.findMany({ where: own(ctx), orderBy: { effective_from: 'asc' } });
  const newest = new Map(rows.map((row) => [nameOf(row.provider, row.model), row]));
  return new Map([...newest].filter(([, { withdrawn }]) => !withdrawn));
}

function systemNow(now: Date): KnownPrice[] {
  const prices: KnownPrice[] = [];
  for (const { exact, prefixes } of systemPrices().table.values())
    for (const versions of [...exact.values(), ...prefixes.map((prefix) => prefix.versions)]) {
      const price = versions.find(({ from }) => from <= now.getTime())?.price;
      if (price) prices.push(price);
    }
  return prices;
}

const nameOf = (provider: string, model: string) => `${provider} ${model}`;
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const number = (value: { toString(): string } | null | undefined): number | null =>
  value === null || value === undefined ? null : Number(value);

const shown = (
  source: 'system' | 'tenant',
  row: { provider: string; model: string; effective_from: Date | null },
  rates: Record<Rate, number | null>,
  rest: Rest,
) => ({
  provider: row.provider,
  model: row.model,
  effective_from: row.effective_from,
  ...rates,
  ...rest,
  source,
});
type ImagePrices = z.output<typeof Price>['image_prices'];
type Rest = {
  tier_threshold_tokens: number | null;
  batch_discount: number | null;
  flex_discount: number | null;
  priority_surcharge: number | null;
  image_prices: ImagePrices;
  context_tokens: number | null;
  max_output_tokens: number | null;
  overrides_system: boolean;
};

function shownOverride(row: PriceRow) {
  const system = systemPrices().table.get(row.provider)?.exact.get(row.model)?.[0]?.price;
  return shown(
    'tenant',
    row,
    ratesOf((name) => number(row[name])),
    {
      tier_threshold_tokens: row.tier_threshold_tokens,
      batch_discount: number(row.batch_discount),
      flex_discount: number(row.flex_discount),
      priority_surcharge: number(row.priority_surcharge),
      image_prices: row.image_prices as ImagePrices,
      context_tokens: system?.contextTokens ?? null,
      max_output_tokens: system?.maxOutputTokens ?? null,
      overrides_system: system !== undefined && system !== null,
    },
  );
}

const shownSystem = (price: KnownPrice) =>
  shown(
    'system',
    { provider: price.provider, model: price.model, effective_from: price.effectiveFrom === 0 ? null : new Date(price.effectiveFrom) },
    ratesOf((name) => {
      const micro = price.rates[name];
      return micro === null ? null : Number(micro) / 1e6;
    }),
    {
      tier_threshold_tokens: price.tierThreshold,
      batch_discount: shareOf(price.batchDiscount),
      flex_discount: shareOf(price.flexDiscount),
      priority_surcharge: shareOf(price.prioritySurcharge),
      image_prices:
        price.images.length === 0 ? null : price.images.map(({ size, quality, micro }) => ({ size, quality, usd: Number(micro) / 1e6 })),
      context_tokens: price.contextTokens,
      max_output_tokens: price.maxOutputTokens,
      overrides_system: false,
    },
  );

const shareOf = (tenThousandths: bigint | null): number | null => (tenThousandths === null ? null : Number(tenThousandths) / 1e4);

const ratesOf = (rate: (name: Rate) => number | null) =>
  Object.fromEntries(RATES.map((name) => [name, rate(name)])) as Record<Rate, number | null>;
