import { z } from 'zod';
import { atLeastOne, label, pathId, time } from '#server/kernel/fields.ts';

/** A list page that keeps views, as a family declares it. */
const page = () => z.string().max(60);
export const VIEWS_PER_PERSON = 50;

/** A named look at a list page: what stands in its address (filters, order, page size) and which columns it hides. */
export const View = z
  .object({
    id: z.uuid(),
    page: page(),
    name: z.string(),
    query: z.string(),
    columns: z.array(z.string()),
    shared: z.boolean(),
    mine: z.boolean(),
    is_default: z.boolean(),
    owner: z.string(),
    created_at: time(),
    updated_at: time(),
  })
  .meta({ id: 'View' });

const editable = {
  name: label(60),
  /** As in the address after `?`: names and values, never a path or a host. */
  query: z
    .string()
    .max(2_000)
    .regex(/^[A-Za-z0-9\-._~!$'()*+,;:@%=&/?[\]]*$/, 'must be a URL query string'),
  columns: z
    .array(
      z
        .string()
        .max(60)
        .regex(/^[a-z0-9_]+$/),
    )
    .max(60),
  shared: z.boolean(),
  is_default: z.boolean(),
};

export const ListViews = z.object({ page: page() });
export const CreateView = z.object({
  page: page(),
  name: editable.name,
  query: editable.query,
  columns: editable.columns.default([]),
  shared: editable.shared.default(false),
  is_default: editable.is_default.default(false),
});
export const UpdateView = atLeastOne(z.object({ id: pathId(), ...z.object(editable).partial().shape }));
export const ViewRef = z.object({ id: pathId() });
