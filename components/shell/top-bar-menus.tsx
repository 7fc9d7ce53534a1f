'use client';

import {
  BookOpen,
  ChevronsUpDown,
  CircleHelp,
  Contrast,
  FileText,
  Keyboard,
  LogOut,
  Megaphone,
  Monitor,
  Moon,
  Plus,
  Sun,
} from 'lucide-react';
import type { Theme } from '#components/theme/appearance.ts';
import { useKeptAppearance } from '#components/theme/preferences-provider.tsx';
import { Avatar } from '#components/ui/avatar.tsx';
import { Button, IconButton } from '#components/ui/button.tsx';
import { Menu, type MenuEntry } from '#components/ui/dropdown-menu.tsx';
import type { Space } from '#components/ui/test-band.tsx';
import { personal } from './navigation.ts';
import type { FamilyPage } from './page-family.ts';

export type Workspace = {
  slug: string;
  name: string;
  /** The id of the picture that is its logo. */
  logo: string | null;
  /** The person's role there, as a word. */
  role?: string;
};
/** `photo`: the id of the picture. */
export type Person = { name: string; email: string; photo: string | null };

export const themes: { theme: Theme; label: string; icon: typeof Sun }[] = [
  { theme: 'system', label: 'System', icon: Monitor },
  { theme: 'light', label: 'Light', icon: Sun },
  { theme: 'dark', label: 'Dark', icon: Moon },
  { theme: 'contrast', label: 'High contrast', icon: Contrast },
];

/** The person’s workspaces, and the way to another. */
export function WorkspaceSwitcher({
  workspaces,
  current,
  space,
  createHref,
}: {
  workspaces: readonly Workspace[];
  current: Workspace;
  space: Space;
  createHref?: string;
}) {
  const entries: MenuEntry[] = [
    { heading: 'Workspaces' },
    ...workspaces.map((workspace) => ({
      label: workspace.name,
      detail: workspace.role,
      icon: <Avatar name={workspace.name} picture={workspace.logo} />,
      href: `/${workspace.slug}/${space}`,
    })),
    ...(createHref ? (['separator', { label: 'New workspace', icon: <Plus />, href: createHref }] as const) : []),
  ];
  return (
    <Menu
      align="start"
      entries={entries}
      className="min-w-60"
      trigger={
        <Button variant="ghost" className="min-w-0 shrink gap-2 px-1.5 text-ink">
          <span className="flex min-w-0 items-center gap-2">
            <Avatar name={current.name} picture={current.logo} />
            <span className="sr-only">Workspace </span>
            <span className="max-w-40 truncate max-sm:sr-only">{current.name}</span>
            <ChevronsUpDown aria-hidden className="size-3.5! text-ink-3" />
          </span>
        </Button>
      }
    />
  );
}

/** The choice of colours. */
export function ThemeMenu() {
  const { theme, density, setTheme, setDensity } = useKeptAppearance();
  const Icon = themes.find((one) => one.theme === theme)?.icon ?? Monitor;
  return (
    <Menu
      trigger={<IconButton label="Appearance" icon={<Icon />} tooltipSide="bottom" />}
      entries={[
        { heading: 'Theme' },
        ...themes.map(({ theme: each, label, icon: Each }) => ({
          label,
          icon: <Each />,
          checked: theme === each,
          onSelect: () => setTheme(each),
        })),
        { heading: 'Row density' },
        { label: 'Comfortable', checked: density === 'comfortable', onSelect: () => setDensity('comfortable') },
        { label: 'Compact', checked: density === 'compact', onSelect: () => setDensity('compact') },
      ]}
    />
  );
}

type HelpMenuProps = {
  /** The page that is open. */
  page: FamilyPage | undefined;
  /** Entries of the changelog that the person has not seen. */
  unread: number;
  onNews: () => void;
  onShortcuts: () => void;
};

/** Documentation, what’s new, and the sheet of shortcuts. */
export function HelpMenu({ page, unread, onNews, onShortcuts }: HelpMenuProps) {
  const news = unread === 0 ? undefined : `${unread} unread`;
  return (
    <Menu
      trigger={
        <IconButton
          label={unread === 0 ? 'Help' : 'Help, with unread news'}
          icon={
            <span className="relative">
              <CircleHelp aria-hidden />
              {unread > 0 && (
                <span aria-hidden className="-top-0.5 -right-0.5 absolute size-2 rounded-full border border-canvas bg-accent" />
              )}
            </span>
          }
          tooltipSide="bottom"
        />
      }
      entries={[
        ...(page?.docs ? [{ label: `Docs: ${page.label}`, icon: <FileText />, href: `/docs/${page.docs}` }] : []),
        { label: 'Documentation', icon: <BookOpen />, href: '/docs' },
        { label: 'What’s new', detail: news, icon: <Megaphone />, onSelect: onNews },
        { label: 'Keyboard shortcuts', icon: <Keyboard />, keys: '?', onSelect: onShortcuts },
      ]}
    />
  );
}

/** What is the person’s own: profile, sessions, preferences, signing out. */
export function PersonMenu({ user, onSignOut }: { user: Person; onSignOut: () => void }) {
  return (
    <Menu
      trigger={
        <Button variant="ghost" className="px-1.5">
          <Avatar name={user.name} picture={user.photo} round />
          <span className="sr-only">Your account, {user.name}</span>
        </Button>
      }
      className="min-w-56"
      entries={[
        { heading: <PersonHead user={user} /> },
        ...personal.map(({ label, icon: Icon, path }) => ({ label, icon: <Icon />, href: path })),
        'separator',
        { label: 'Sign out', icon: <LogOut />, onSelect: onSignOut },
      ]}
    />
  );
}

const PersonHead = ({ user }: { user: Person }) => (
  <span className="block">
    <span className="block truncate font-medium text-ink text-sm">{user.name}</span>
    <span className="block truncate">{user.email}</span>
  </span>
);
