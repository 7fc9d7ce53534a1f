'use client';

import { useRouter } from 'next/navigation';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import type { Space } from '#components/ui/test-band.tsx';
import { hrefInSpace, hrefOf, type Place } from './navigation.ts';
import { useNavigation } from './use-navigation.ts';

type FrameActs = { openPalette: () => void; openShortcuts: () => void; toggleRail: () => void; togglePane: () => void };

/** The keys of the frame. They give way to a page that uses the same key. */
export function useFrameKeys(place: Place, act: FrameActs): void {
  const router = useRouter();
  const items = useNavigation()
    .flatMap((group) => group.items)
    .filter((item) => item.keys);
  const toSpace = (space: Space) => router.push(hrefInSpace(window.location.pathname, place, space));
  useHotkeys([
    { keys: 'mod+k', label: 'Open command palette', group: 'General', everywhere: true, run: act.openPalette },
    { keys: '/', run: act.openPalette, fallback: true },
    { keys: '?', label: 'Show keyboard shortcuts', group: 'General', run: act.openShortcuts },
    { keys: 'mod+b', label: 'Toggle navigation', group: 'General', run: act.toggleRail },
    { keys: '~', label: 'Toggle developer pane', group: 'General', run: act.togglePane },
    { keys: 'escape', label: 'Close the top layer', group: 'General' },
    ...items.map((item) => ({ keys: item.keys ?? '', label: item.label, group: 'Go to', run: () => router.push(hrefOf(item, place)) })),
    { keys: 'g t', label: 'Switch to Test', group: 'Go to', run: () => toSpace('test') },
    { keys: 'g l l', label: 'Switch to Live', group: 'Go to', run: () => toSpace('live') },
  ]);
}
