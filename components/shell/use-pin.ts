'use client';

import { usePreferences } from '#components/theme/preferences-provider.tsx';
import { notifyFailed } from '#components/ui/toaster.tsx';
import { PINS_AT_MOST } from '#server/domain/people/places.shared.ts';
import { pinnablePages } from './page-choices.ts';

/** Whether a page stands on top of the rail, and the way to change it; undefined for one that cannot. */
export function usePin(page: string): { isOn: boolean; toggle: () => void } | undefined {
  const { preferences, save } = usePreferences();
  const { pins } = preferences;
  const id = pinnablePages.find((known) => known.id === page)?.id;
  if (!id) return undefined;
  const isOn = pins.includes(id);
  const toggle = () => {
    if (isOn) save({ pins: pins.filter((one) => one !== id) });
    else if (pins.length < PINS_AT_MOST) save({ pins: [...pins, id] });
    else notifyFailed(`You can pin up to ${PINS_AT_MOST} pages. Unpin one first.`);
  };
  return { isOn, toggle };
}
