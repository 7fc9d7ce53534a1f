'use client';

import { PinOff } from 'lucide-react';
import { inOrder } from '#components/shell/arrangement.ts';
import { navigation } from '#components/shell/navigation.ts';
import { pinnablePages } from '#components/shell/page-choices.ts';
import { usePreferences } from '#components/theme/preferences-provider.tsx';
import { IconButton } from '#components/ui/button.tsx';
import { Field } from '#components/ui/field.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { ReorderList } from '#components/ui/reorder-list.tsx';
import { Select } from '#components/ui/select.tsx';
import { PINS_AT_MOST, RAIL_GROUPS } from '#server/domain/people/places.shared.ts';

/** What stands on top of the rail, and the order of its groups. */
export function NavigationCard() {
  const { preferences, save } = usePreferences();
  const { pins, rail_order } = preferences;
  const groups = inOrder(
    RAIL_GROUPS.map((id) => ({ id, label: navigation.find((group) => group.id === id)?.label ?? id })),
    rail_order,
  );
  const unpinned = pinnablePages.filter(({ id }) => !pins.includes(id)).map(({ id, label }) => ({ value: id, label }));
  const isFull = pins.length >= PINS_AT_MOST;
  return (
    <SectionCard title="Navigation" description="Pin the pages you use most, and arrange the sidebar groups.">
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <Field group label={`Pinned pages (${pins.length} of ${PINS_AT_MOST})`}>
          <div className="flex w-full flex-col gap-2">
            {pins.length > 0 && (
              <ReorderList
                label="Pinned pages"
                onOrder={(ids) => save({ pins: ids })}
                items={pins.map((id) => ({
                  id,
                  label: nameOf(id),
                  actions: (
                    <IconButton
                      size="sm"
                      label={`Unpin ${nameOf(id)}`}
                      icon={<PinOff />}
                      onClick={() => save({ pins: pins.filter((one) => one !== id) })}
                    />
                  ),
                }))}
              />
            )}
            {!isFull && (
              <Select
                label="Pin a page"
                placeholder="Pin a page…"
                options={unpinned}
                value={null}
                onValueChange={(id) => save({ pins: [...pins, id] })}
              />
            )}
          </div>
        </Field>
        <Field group label="Group order">
          <ReorderList label="Group order" items={groups} onOrder={(ids) => save({ rail_order: ids })} />
        </Field>
      </div>
    </SectionCard>
  );
}

const nameOf = (id: string): string => pinnablePages.find((page) => page.id === id)?.label ?? id;
