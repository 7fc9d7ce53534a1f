import {
  ArrowRightLeft,
  Boxes,
  Braces,
  Gauge,
  History,
  House,
  Import,
  KeyRound,
  Layers,
  LockKeyhole,
  type LucideIcon,
  MonitorSmartphone,
  Network,
  Rocket,
  ScrollText,
  Settings2,
  ShieldCheck,
  Signpost,
  SlidersHorizontal,
  UserRound,
  UserRoundKey,
  Waypoints,
} from 'lucide-react';
import type { Space } from '#components/ui/test-band.tsx';
import type { Capability } from '#server/domain/roles/catalogue.shared.ts';

/** Where an item's path hangs: under `/{slug}/{live|test}`, under `/{slug}`, or at the top. */
export type NavScope = 'space' | 'workspace' | 'person';
export type NavItem = {
  id: string;
  label: string;
  icon: LucideIcon;
  scope: NavScope;
  path: string;
  keys?: string;
  keywords?: readonly string[];
  /** What one must hold to open the page; `below` for the pages under it, where that is more. */
  needs?: Capability;
  below?: Capability;
  /** The page of the documentation about it: `/docs/{docs}`. */
  docs?: string;
};
export type NavGroup = { id: string; label?: string; items: readonly NavItem[] };

/** Every page the rail and the palette lead to. A page enters this list in the change that makes it, so that no link is ever dead. */
export const navigation: readonly NavGroup[] = [
  { id: 'home', items: [{ id: 'home', label: 'Home', icon: House, scope: 'space', path: '', keys: 'g h' }] },
  {
    id: 'gateway',
    label: 'Gateway',
    items: [
      {
        id: 'routes',
        label: 'Routes',
        icon: Waypoints,
        scope: 'space',
        path: '/routes',
        needs: 'route:list',
        below: 'route:read',
        docs: 'routes',
        keys: 'g r',
        keywords: ['api', 'proxy', 'upstream'],
      },
      {
        id: 'collections',
        label: 'Collections',
        icon: Layers,
        scope: 'space',
        path: '/collections',
        needs: 'collection:list',
        below: 'collection:read',
        docs: 'collections',
        keywords: ['group'],
      },
      {
        id: 'clients',
        label: 'Clients',
        icon: Network,
        scope: 'space',
        path: '/clients',
        needs: 'client:read',
        docs: 'clients',
        keys: 'g c',
        keywords: ['ip', 'callers', 'allow list'],
      },
      {
        id: 'environments',
        label: 'Environments',
        icon: Boxes,
        scope: 'space',
        path: '/environments',
        needs: 'environment:list',
        below: 'environment:read',
        docs: 'environments',
        keywords: ['staging', 'production'],
      },
      {
        id: 'import',
        label: 'Import',
        icon: Import,
        scope: 'space',
        path: '/import',
        needs: 'route:create',
        keywords: ['openapi', 'postman', 'curl'],
      },
      {
        id: 'promote',
        label: 'Promote and copy',
        icon: ArrowRightLeft,
        scope: 'space',
        path: '/promote',
        needs: 'sandbox:promote',
        docs: 'concepts',
        keywords: ['live', 'test', 'clone', 'release', 'go live', 'sandbox'],
      },
    ],
  },
  {
    id: 'secrets',
    label: 'Secrets',
    items: [
      {
        id: 'secrets',
        label: 'Secrets',
        icon: LockKeyhole,
        scope: 'space',
        path: '/secrets',
        needs: 'secret:read',
        docs: 'secrets',
        keys: 'g s',
        keywords: ['credentials', 'tokens', 'certificates'],
      },
    ],
  },
  {
    id: 'observe',
    label: 'Observe',
    items: [
      {
        id: 'logs',
        label: 'Logs',
        icon: ScrollText,
        scope: 'space',
        path: '/logs',
        needs: 'log:list',
        docs: 'logs',
        keys: 'g l',
        keywords: ['requests', 'calls', 'errors'],
      },
      {
        id: 'audit',
        label: 'Audit',
        icon: Signpost,
        scope: 'space',
        path: '/audit',
        needs: 'audit_log:list',
        docs: 'audit-logs',
        keys: 'g a',
        keywords: ['history', 'changes'],
      },
    ],
  },
  {
    id: 'developers',
    label: 'Developers',
    items: [
      {
        id: 'api-keys',
        label: 'API keys',
        icon: KeyRound,
        scope: 'space',
        path: '/api-keys',
        needs: 'api_key:list',
        docs: 'api-keys',
        keywords: ['token', 'credential'],
      },
      {
        id: 'explorer',
        label: 'API explorer',
        icon: Braces,
        scope: 'space',
        path: '/explorer',
        docs: 'openapi',
        keys: 'g x',
        keywords: ['openapi', 'try', 'request', 'management'],
      },
      {
        id: 'quickstart',
        label: 'Quickstart',
        icon: Rocket,
        scope: 'space',
        path: '/quickstart',
        docs: 'quickstart',
        keys: 'g q',
        keywords: ['snippets', 'code', 'sdk', 'curl', 'start'],
      },
    ],
  },
  {
    id: 'settings',
    label: 'Settings',
    items: [
      {
        id: 'workspace',
        label: 'Workspace',
        icon: Settings2,
        scope: 'workspace',
        path: '/settings/workspace',
        needs: 'account:read',
        docs: 'account',
        keywords: ['name', 'slug'],
      },
      {
        id: 'roles',
        label: 'Roles',
        icon: UserRoundKey,
        scope: 'workspace',
        path: '/settings/roles',
        docs: 'roles',
        keywords: ['permissions', 'scopes', 'owner', 'admin', 'editor', 'viewer', 'member'],
      },
      {
        id: 'usage',
        label: 'Usage',
        icon: Gauge,
        scope: 'workspace',
        path: '/settings/usage',
        needs: 'account:read',
        docs: 'account',
        keywords: ['plan', 'limits', 'billing'],
      },
      {
        id: 'versions',
        label: 'API versions',
        icon: History,
        scope: 'workspace',
        path: '/settings/versions',
        needs: 'api_key:list',
        docs: 'openapi',
        keywords: ['lifecycle', 'service-version', 'deprecation', 'sdk'],
      },
      {
        id: 'keys',
        label: 'Key management',
        icon: ShieldCheck,
        scope: 'workspace',
        path: '/settings/keys',
        needs: 'kms:read',
        docs: 'self-hosting',
        keywords: ['rotate', 'kms', 'encryption'],
      },
    ],
  },
];

/** The person's own pages: in the avatar menu and the palette, not in the rail. */
export const personal: readonly NavItem[] = [
  { id: 'profile', label: 'Profile', icon: UserRound, scope: 'person', path: '/me/profile', keywords: ['name', 'email', 'e-mail'] },
  {
    id: 'security',
    label: 'Security',
    icon: LockKeyhole,
    scope: 'person',
    path: '/me/security',
    keywords: ['password', 'sessions', 'devices', 'sign out'],
  },
  { id: 'sessions', label: 'Sessions', icon: MonitorSmartphone, scope: 'person', path: '/me/sessions', keywords: ['devices', 'sign out'] },
  {
    id: 'preferences',
    label: 'Preferences',
    icon: SlidersHorizontal,
    scope: 'person',
    path: '/me/preferences',
    keywords: ['theme', 'dark', 'shortcuts', 'time zone', 'utc', 'landing'],
  },
];

export type Place = { slug: string; space: Space };

/** Where an item leads from a place. */
export function hrefOf(item: Pick<NavItem, 'scope' | 'path'>, { slug, space }: Place): string {
  if (item.scope === 'person') return item.path;
  return item.scope === 'workspace' ? `/${slug}${item.path}` : `/${slug}/${space}${item.path}`;
}

/** The item whose page, or a page under it, is open. */
export function activeItem(pathname: string, place: Place): NavItem | undefined {
  const all = [...navigation.flatMap((group) => group.items), ...personal];
  // Home has nothing below it: every other page of the space would count as its child.
  return all.find((item) => {
    const href = hrefOf(item, place);
    return pathname === href || (item.path !== '' && pathname.startsWith(`${href}/`));
  });
}

/** What of an open address one must hold, and by what name; undefined when everybody may open it. */
export function neededFor(pathname: string, place: Place): { item: NavItem; capability: Capability } | undefined {
  const item = activeItem(pathname, place);
  const capability = item && (pathname === hrefOf(item, place) ? item.needs : (item.below ?? item.needs));
  return item && capability && { item, capability };
}

/** A Viewer, who may only read, is not shown what they may not even read; everybody else sees what there is, locked (70 §3.2). */
export const isHidden = ({ needs }: Pick<NavItem, 'needs'>, role: string): boolean =>
  role === 'viewer' && needs !== undefined && /:(?:read|list)$/.test(needs);

/**
 * The same page in the other partition. Ids live in one partition only, so a detail page leads to its list there;
 * a page without a partition leads to that partition's home.
 */
export function hrefInSpace(pathname: string, place: Place, to: Space): string {
  const item = activeItem(pathname, place);
  return item?.scope === 'space' ? hrefOf(item, { ...place, space: to }) : `/${place.slug}/${to}`;
}
