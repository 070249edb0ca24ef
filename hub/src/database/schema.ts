// The tables of the schema `plugboard`. Literal SQL: a migration must never change once it is released, and only adds what the release
// before it can ignore, so that hubs of both run side by side.

export interface Migration {
  readonly id: number;
  /** Hubs of older releases cannot use the schema any more. */
  readonly minRelease: string;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  {
    id: 1,
    minRelease: "0.1.0",
    sql: `
-- What changed last, by kind. Who changes something locks its row, so that changes of a kind have one order.
create table plugboard.version (kind text primary key, n bigint not null);
insert into plugboard.version values ('config', 0), ('identity', 0), ('secret', 0);

-- The key that encrypts secrets is not in the database, only what tells whether a hub has the right one.
create table plugboard.master_key (one boolean primary key default true check (one), salt text not null, key_id text not null);

-- The texts of mcp_server.json and group.json.
create table plugboard.config (file text primary key, text text not null);

-- Secrets of the hub (kind key), of single people (user) and logins at servers (oauth): records as in the files of one machine.
create table plugboard.sealed (
  kind text not null, name text not null, id uuid not null, record text not null, set_at bigint not null,
  primary key (kind, name));

-- Small texts that only save work: eras, times of entries, listings of servers.
create table plugboard.kept (name text primary key, text text not null, at timestamptz not null default now());

create table plugboard.token (
  id text primary key, digest text not null unique, start text not null, name text not null, principal text not null,
  role text not null, groups text not null, read_only boolean not null,
  created_at bigint not null, created_by text not null, expires_at bigint, used_at bigint, used_from text,
  revoked_at bigint, revoked_by text, login text, client text);
create unique index token_name on plugboard.token (name) where revoked_at is null and login is null;

create table plugboard.person (
  id text primary key, issuer text not null, subject text not null, email text, email_verified boolean not null, name text,
  given_role text, claimed_role text, claimed_teams text not null, created_at bigint not null, seen_at bigint not null,
  disabled_at bigint, unique (issuer, subject));

create table plugboard.audit (
  n bigint primary key, at bigint not null, principal text not null, role text, token text, client text, address text,
  action text not null, object text, outcome text not null, detail text, request_id text, hash text not null);
-- Apart from the rows, so that rows that were removed at the end are missed.
create table plugboard.audit_head (one boolean primary key default true check (one), n bigint not null, hash text not null);
insert into plugboard.audit_head (n, hash) values (0, '');
create function plugboard.keep_audit() returns trigger language plpgsql as
  $$ begin raise exception 'the audit log is append-only'; end $$;
create trigger audit_kept before update or delete or truncate on plugboard.audit
  for each statement execute function plugboard.keep_audit();

create table plugboard.oauth_client (
  id text primary key, metadata text not null, created_at bigint not null, created_from text not null, used_at bigint);
create table plugboard.oauth_login (
  id text primary key, client text not null, client_name text not null, redirect_host text not null, principal text not null,
  groups text not null, read_only boolean not null, created_at bigint not null, expires_at bigint not null, used_at bigint,
  revoked_at bigint, revoked_by text, payload text);
create table plugboard.oauth_refresh_token (
  digest text primary key, login text not null, payload text not null, expires_at bigint not null, used_at bigint);
create index oauth_refresh_token_login on plugboard.oauth_refresh_token (login);

-- Who has joined. Whether it is alive, its advisory lock says.
create table plugboard.replica (name text primary key, release text not null, url text, started_at timestamptz not null default now());

-- The call log: a partition a day, dropped by age.
create table plugboard.call (
  id bigint not null, at bigint not null, duration_us bigint not null, server text not null, tool text not null,
  outcome text not null, group_name text not null, client text, workflow_id text, error_code text, truncated boolean not null,
  session text, about text, origin text, facts text, principal text, token text, params text, result text,
  primary key (id, at)) partition by range (at);
create index on plugboard.call (at);
create index on plugboard.call (workflow_id) where workflow_id is not null;
create table plugboard.call_other partition of plugboard.call default;
-- The last id. Whoever writes calls locks it until the commit: so ids become visible in their order, and a follower misses none.
create table plugboard.call_sequence (one boolean primary key default true check (one), last bigint not null);
insert into plugboard.call_sequence (last) values (0);
-- How many bytes of each journal are in the database, committed together with the calls.
create table plugboard.call_journal (name text primary key, done bigint not null);
create view plugboard.mcp_call_log as
  select id, workflow_id, server as server_name, tool as tool_name, group_name, client, params, result, outcome,
    outcome = 'ok' as success, duration_us / 1000.0 as duration_ms, error_code, truncated,
    to_timestamp(at / 1000.0) as timestamp
  from plugboard.call;
`,
  },
  {
    id: 2,
    minRelease: "0.1.0",
    sql: `
-- Where other hubs reach a hub.
alter table plugboard.replica add column peer text;

-- The sessions of legacy clients, with what a new owner needs. instance: a run of the owner; empty after it has stopped.
create table plugboard.session (
  id text primary key, replica text not null, instance text not null, endpoint text not null, record text not null,
  used_at timestamptz not null default now());
create index session_instance on plugboard.session (instance);
create index session_used_at on plugboard.session (used_at);
`,
  },
  {
    id: 3,
    minRelease: "0.1.0",
    sql: `
insert into plugboard.version values ('approval', 0);
-- Which servers may run, and their tools as they were approved: texts as in the files of one machine.
create table plugboard.approval (server text primary key, text text not null);
`,
  },
];
