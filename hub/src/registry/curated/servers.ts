// Well-known servers, for the first run and for machines without a network. test/registry/curated.long.ts checks that each package
// exists in this version.

interface CuratedInput {
  readonly name: string;
  readonly description: string;
  readonly isRequired?: boolean;
  readonly isSecret?: boolean;
  readonly default?: string;
  readonly choices?: readonly string[];
  readonly format?: "filepath";
}

export interface CuratedServer {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly website?: string;
  /** `npm:name@version`, `pypi:name==version`, or an address. */
  readonly run: string;
  /** Fixed arguments; those that an input gives come after them. */
  readonly args?: readonly string[];
  /** Positional arguments. */
  readonly positional?: readonly (CuratedInput & { readonly isRepeated?: boolean })[];
  readonly env?: readonly CuratedInput[];
}

const key = (name: string, description: string): CuratedInput => ({
  name,
  description,
  isRequired: true,
  isSecret: true,
});

export const CURATED: readonly CuratedServer[] = [
  {
    name: "filesystem",
    title: "Filesystem",
    description: "Read, search and write files in folders that you choose",
    website: "https://github.com/modelcontextprotocol/servers",
    run: "npm:@modelcontextprotocol/server-filesystem@2026.8.31",
    positional: [
      {
        name: "folders",
        description: "Folders, separated by commas",
        isRequired: true,
        isRepeated: true,
        format: "filepath",
      },
    ],
  },
  {
    name: "memory",
    title: "Memory",
    description: "A knowledge graph that remembers between conversations",
    website: "https://github.com/modelcontextprotocol/servers",
    run: "npm:@modelcontextprotocol/server-memory@2026.8.31",
    env: [{ name: "MEMORY_FILE_PATH", description: "The file that keeps it", format: "filepath" }],
  },
  {
    name: "sequential-thinking",
    title: "Sequential thinking",
    description: "Thinks through a problem in steps that can be revised",
    website: "https://github.com/modelcontextprotocol/servers",
    run: "npm:@modelcontextprotocol/server-sequential-thinking@2026.8.31",
  },
  {
    name: "everything",
    title: "Everything",
    description: "Every feature of the protocol, for trying out clients",
    website: "https://github.com/modelcontextprotocol/servers",
    run: "npm:@modelcontextprotocol/server-everything@2026.8.31",
  },
  {
    name: "time",
    title: "Time",
    description: "The current time, and conversion between time zones",
    website: "https://github.com/modelcontextprotocol/servers",
    run: "pypi:mcp-server-time==2026.10.19",
  },
  {
    name: "fetch",
    title: "Fetch",
    description: "Reads web pages as Markdown",
    website: "https://github.com/modelcontextprotocol/servers",
    run: "pypi:mcp-server-fetch==2026.10.24",
  },
  {
    name: "git",
    title: "Git",
    description: "Reads and changes Git repositories",
    website: "https://github.com/modelcontextprotocol/servers",
    run: "pypi:mcp-server-git==2026.10.19",
  },
  {
    name: "context7",
    title: "Context7",
    description: "Current documentation of libraries and frameworks",
    website: "https://github.com/upstash/context7",
    run: "npm:@upstash/context7-mcp@4.1.1",
    env: [{ name: "CONTEXT7_API_KEY", description: "Raises the limits", isSecret: true }],
  },
  {
    name: "playwright",
    title: "Playwright",
    description: "Drives a browser: opens pages, clicks, fills in forms",
    website: "https://github.com/microsoft/playwright-mcp",
    run: "npm:@playwright/mcp@0.0.83",
  },
  {
    name: "chrome-devtools",
    title: "Chrome DevTools",
    description: "Debugs and measures pages in Chrome",
    website: "https://github.com/ChromeDevTools/chrome-devtools-mcp",
    run: "npm:chrome-devtools-mcp@1.11.0",
  },
  {
    name: "brave-search",
    title: "Brave Search",
    description: "Searches the web, news, images and places",
    website: "https://github.com/brave/brave-search-mcp-server",
    run: "npm:@brave/brave-search-mcp-server@2.1.4",
    env: [key("BRAVE_API_KEY", "Key of the Brave Search API")],
  },
  {
    name: "exa",
    title: "Exa",
    description: "Searches the web and reads the pages that it finds",
    website: "https://github.com/exa-labs/exa-mcp-server",
    run: "npm:exa-mcp-server@3.4.1",
    env: [key("EXA_API_KEY", "Key of the Exa API")],
  },
  {
    name: "tavily",
    title: "Tavily",
    description: "Searches, extracts and crawls the web",
    website: "https://github.com/tavily-ai/tavily-mcp",
    run: "npm:tavily-mcp@0.2.22",
    env: [key("TAVILY_API_KEY", "Key of the Tavily API")],
  },
  {
    name: "firecrawl",
    title: "Firecrawl",
    description: "Scrapes and crawls web sites",
    website: "https://github.com/firecrawl/firecrawl-mcp-server",
    run: "npm:firecrawl-mcp@3.26.0",
    env: [key("FIRECRAWL_API_KEY", "Key of the Firecrawl API")],
  },
  {
    name: "perplexity",
    title: "Perplexity",
    description: "Answers questions from a search of the web",
    website: "https://github.com/perplexityai/modelcontextprotocol",
    run: "npm:@perplexity-ai/mcp-server@1.2.1",
    env: [key("PERPLEXITY_API_KEY", "Key of the Perplexity API")],
  },
  {
    name: "duckduckgo",
    title: "DuckDuckGo",
    description: "Searches the web without an account",
    website: "https://github.com/nickclyde/duckduckgo-mcp-server",
    run: "pypi:duckduckgo-mcp-server==0.7.0",
  },
  {
    name: "github",
    title: "GitHub",
    description: "Repositories, issues, pull requests and workflows, at GitHub's own server",
    website: "https://github.com/github/github-mcp-server",
    run: "https://api.githubcopilot.com/mcp/",
  },
  {
    name: "linear",
    title: "Linear",
    description: "Issues and projects; asks for a login",
    website: "https://linear.app/docs/mcp",
    run: "https://mcp.linear.app/mcp",
  },
  {
    name: "notion",
    title: "Notion",
    description: "Reads and writes pages and databases of Notion",
    website: "https://github.com/makenotion/notion-mcp-server",
    run: "npm:@notionhq/notion-mcp-server@2.5.2",
    env: [key("NOTION_TOKEN", "Token of an integration of your workspace")],
  },
  {
    name: "sentry",
    title: "Sentry",
    description: "Errors, events and traces of your applications",
    website: "https://github.com/getsentry/sentry-mcp",
    run: "npm:@sentry/mcp-server@0.39.0",
    env: [key("SENTRY_ACCESS_TOKEN", "Access token of your account")],
  },
  {
    name: "stripe",
    title: "Stripe",
    description: "Customers, payments and subscriptions",
    website: "https://github.com/stripe/agent-toolkit",
    run: "npm:@stripe/mcp@0.3.3",
    args: ["--tools=all"],
    env: [key("STRIPE_SECRET_KEY", "Secret or restricted key of your account")],
  },
  {
    name: "supabase",
    title: "Supabase",
    description: "Projects, databases and functions of Supabase",
    website: "https://github.com/supabase-community/supabase-mcp",
    run: "npm:@supabase/mcp-server-supabase@0.13.0",
    args: ["--read-only"],
    env: [key("SUPABASE_ACCESS_TOKEN", "Personal access token")],
  },
  {
    name: "dbhub",
    title: "DBHub",
    description: "Queries PostgreSQL, MySQL, MariaDB, SQL Server and SQLite",
    website: "https://github.com/bytebase/dbhub",
    run: "npm:@bytebase/dbhub@1.4.0",
    args: ["--transport", "stdio"],
    env: [key("DSN", "Connection string, as postgres://user:password@host:5432/name")],
  },
  {
    name: "mongodb",
    title: "MongoDB",
    description: "Queries and manages MongoDB databases",
    website: "https://github.com/mongodb-js/mongodb-mcp-server",
    run: "npm:mongodb-mcp-server@3.0.4",
    args: ["--readOnly"],
    env: [key("MDB_MCP_CONNECTION_STRING", "Connection string")],
  },
  {
    name: "mysql",
    title: "MySQL",
    description: "Reads MySQL databases",
    website: "https://github.com/benborla/mcp-server-mysql",
    run: "npm:@benborla29/mcp-server-mysql@2.0.9",
    env: [
      { name: "MYSQL_HOST", description: "Host of the server", default: "127.0.0.1" },
      { name: "MYSQL_PORT", description: "Port of the server", default: "3306" },
      { name: "MYSQL_USER", description: "Name of the user", isRequired: true },
      key("MYSQL_PASS", "Password of the user"),
      { name: "MYSQL_DB", description: "Name of the database", isRequired: true },
    ],
  },
  {
    name: "redis",
    title: "Redis",
    description: "Reads and writes Redis databases",
    website: "https://github.com/redis/mcp-redis",
    run: "pypi:redis-mcp-server==0.5.1",
    env: [
      { name: "REDIS_HOST", description: "Host of the server", default: "127.0.0.1" },
      { name: "REDIS_PORT", description: "Port of the server", default: "6379" },
      { name: "REDIS_PWD", description: "Password", isSecret: true },
    ],
  },
  {
    name: "elasticsearch",
    title: "Elasticsearch",
    description: "Searches the indices of an Elasticsearch cluster",
    website: "https://github.com/elastic/mcp-server-elasticsearch",
    run: "npm:@elastic/mcp-server-elasticsearch@0.3.1",
    env: [
      { name: "ES_URL", description: "Address of the cluster", isRequired: true },
      key("ES_API_KEY", "API key of the cluster"),
    ],
  },
  {
    name: "qdrant",
    title: "Qdrant",
    description: "Keeps and finds texts by their meaning",
    website: "https://github.com/qdrant/mcp-server-qdrant",
    run: "pypi:mcp-server-qdrant==0.8.1",
    env: [
      { name: "QDRANT_URL", description: "Address of the server", isRequired: true },
      { name: "QDRANT_API_KEY", description: "Key of the server", isSecret: true },
      { name: "COLLECTION_NAME", description: "The collection to use", isRequired: true },
    ],
  },
  {
    name: "kubernetes",
    title: "Kubernetes",
    description: "Looks into Kubernetes and OpenShift clusters",
    website: "https://github.com/containers/kubernetes-mcp-server",
    run: "npm:kubernetes-mcp-server@0.0.67",
    args: ["--read-only"],
    env: [{ name: "KUBECONFIG", description: "The file with the clusters", format: "filepath" }],
  },
  {
    name: "azure",
    title: "Azure",
    description: "Services of Microsoft Azure, with the login of the Azure CLI",
    website: "https://github.com/microsoft/mcp",
    run: "npm:@azure/mcp@2.0.5",
    args: ["server", "start"],
  },
  {
    name: "azure-devops",
    title: "Azure DevOps",
    description: "Work items, repositories and builds of Azure DevOps",
    website: "https://github.com/microsoft/azure-devops-mcp",
    run: "npm:@azure-devops/mcp@2.10.0",
    positional: [{ name: "organization", description: "Name of the organization", isRequired: true }],
  },
  {
    name: "aws-documentation",
    title: "AWS documentation",
    description: "Searches and reads the documentation of AWS",
    website: "https://github.com/awslabs/mcp",
    run: "pypi:awslabs.aws-documentation-mcp-server==1.2.3",
    env: [{ name: "FASTMCP_LOG_LEVEL", description: "How much it logs", default: "ERROR" }],
  },
  {
    name: "heroku",
    title: "Heroku",
    description: "Applications, add-ons and pipelines of Heroku",
    website: "https://github.com/heroku/heroku-mcp-server",
    run: "npm:@heroku/mcp-server@1.2.8",
    env: [key("HEROKU_API_KEY", "Authorization token of your account")],
  },
  {
    name: "netlify",
    title: "Netlify",
    description: "Creates and deploys sites at Netlify",
    website: "https://github.com/netlify/netlify-mcp",
    run: "npm:@netlify/mcp@1.15.1",
    env: [
      {
        name: "NETLIFY_PERSONAL_ACCESS_TOKEN",
        description: "In place of the login of the Netlify CLI",
        isSecret: true,
      },
    ],
  },
  {
    name: "circleci",
    title: "CircleCI",
    description: "Logs and failures of builds at CircleCI",
    website: "https://github.com/CircleCI-Public/mcp-server-circleci",
    run: "npm:@circleci/mcp-server-circleci@0.20.0",
    env: [key("CIRCLECI_TOKEN", "Personal API token")],
  },
  {
    name: "figma",
    title: "Figma (Framelink)",
    description: "Layouts of Figma files, for code that looks the same",
    website: "https://github.com/GLips/Figma-Context-MCP",
    run: "npm:figma-developer-mcp@0.13.2",
    args: ["--stdio"],
    env: [key("FIGMA_API_KEY", "Personal access token")],
  },
  {
    name: "airtable",
    title: "Airtable",
    description: "Reads and writes the tables of your bases",
    website: "https://github.com/domdomegg/airtable-mcp-server",
    run: "npm:airtable-mcp-server@1.14.0",
    env: [key("AIRTABLE_API_KEY", "Personal access token")],
  },
  {
    name: "apify",
    title: "Apify",
    description: "Runs Actors that collect data from the web",
    website: "https://github.com/apify/apify-mcp-server",
    run: "npm:@apify/actors-mcp-server@0.16.0",
    env: [key("APIFY_TOKEN", "Token of your account")],
  },
  {
    name: "mapbox",
    title: "Mapbox",
    description: "Places, routes and maps",
    website: "https://github.com/mapbox/mcp-server",
    run: "npm:@mapbox/mcp-server@0.14.0",
    env: [key("MAPBOX_ACCESS_TOKEN", "Access token of your account")],
  },
  {
    name: "desktop-commander",
    title: "Desktop Commander",
    description: "Runs commands and edits files on this machine: look at what it is asked to do",
    website: "https://github.com/wonderwhy-er/DesktopCommanderMCP",
    run: "npm:@wonderwhy-er/desktop-commander@0.2.52",
  },
  {
    name: "chart",
    title: "AntV Chart",
    description: "Draws charts from data",
    website: "https://github.com/antvis/mcp-server-chart",
    run: "npm:@antv/mcp-server-chart@0.9.10",
  },
  {
    name: "svelte",
    title: "Svelte",
    description: "Documentation of Svelte, and help with its code",
    website: "https://svelte.dev/docs/mcp/overview",
    run: "npm:@sveltejs/mcp@0.1.26",
  },
];
