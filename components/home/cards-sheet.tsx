'use client';

import { usePreferences } from '#components/theme/preferences-provider.tsx';
import { Button } from '#components/ui/button.tsx';
import { Switch } from '#components/ui/choices.tsx';
import { ReorderList } from '#components/ui/reorder-list.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { allCardsOf, cardWords, type HomeCard, type HomeZone } from './cards.ts';

const zones: Record<HomeZone, string> = { top: 'Top', main: 'Main column', side: 'Sidebar' };

type Props = { missing: readonly HomeCard[]; open: boolean; onOpenChange: (open: boolean) => void };

/** Which cards stand on Home, and in what order; kept as they are chosen. */
export function CardsSheet({ missing, open, onOpenChange }: Props) {
  const { preferences, save } = usePreferences();
  const { home_order: order, home_hidden: hidden } = preferences;
  const show = (id: HomeCard, on: boolean) => save({ home_hidden: on ? hidden.filter((one) => one !== id) : [...hidden, id] });
  return (
    <Sheet
      open={open}
      onOpenChange={onOpenChange}
      title="Customize Home"
      description="Applies to you in every workspace and browser. Empty cards are hidden automatically."
    >
      <div className="flex flex-col gap-5">
        {(Object.keys(zones) as HomeZone[]).map((zone) => {
          const ids = allCardsOf(zone, order).filter((id) => !missing.includes(id));
          return (
            <section key={zone} className="flex flex-col gap-1.5">
              <h3 className="font-medium text-sm">{zones[zone]}</h3>
              <ReorderList
                label={zones[zone]}
                items={ids.map((id) => ({
                  id,
                  label: cardWords[id].label,
                  actions: (
                    <Switch
                      hideLabel
                      label={`Show ${cardWords[id].label}`}
                      checked={!hidden.includes(id)}
                      onCheckedChange={(on) => show(id, on)}
                    />
                  ),
                }))}
                onOrder={(next) => save({ home_order: [...order.filter((id) => cardWords[id].zone !== zone), ...next] })}
              />
            </section>
          );
        })}
        {order.length + hidden.length > 0 && (
          <Button className="self-start" onClick={() => save({ home_order: [], home_hidden: [] })}>
            Reset to default
          </Button>
        )}
      </div>
    </Sheet>
  );
}
