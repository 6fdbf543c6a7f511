// SPDX-License-Identifier: Apache-2.0
/*
 * server.c — the server on civetweb.
 *
 * Two mutexes: one guards what is sent (the tick and the texts), the other what came in. The simulation only tries to take
 * them. A page's thread copies what is new and sends the copy, so that a send that takes long holds nothing.
 */
#define _POSIX_C_SOURCE 200809L // clock_gettime, nanosleep

#include "server.h"

#include <stdio.h>

#ifdef CALDER_WITH_CIVETWEB

#include <civetweb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_CLIENTS = 16, QUEUE = 64, TEXT_SIZE = 1024 };

/*
 * Every connection takes a thread of civetweb's while it lasts: pages that watch theirs for as long as they are open, others
 * until the answer is sent or the request has not come in time. There are threads for all pages that may watch, and for
 * some fifty requests beside them.
 */
#define THREADS "64"
#define REQUEST_TIMEOUT_MS "5000"

static const char too_many[] = "as many pages watch this run as can; close one of them and load this one again";

typedef struct Client {
	struct mg_connection *connection; // NULL: the place is free
	pthread_t thread;
	bool running;        // the thread has to continue
	unsigned long ticks; // number of the last tick that was sent
	unsigned long texts; // and of the last text
} Client;

struct Server {
	struct mg_context *context;
	ServerOptions options;
	int port;

	pthread_mutex_t out;          // guards what follows, up to the next one
	char *document;               // NULL: that of the options
	unsigned char *tick;          // [tick_size]
	unsigned long tick_count;     //
	char texts[QUEUE][TEXT_SIZE]; // the last ones; number n is at n % QUEUE
	unsigned long text_count;     //
	Client clients[MAX_CLIENTS];  //

	pthread_mutex_t in;                         // guards these
	char commands[QUEUE][SERVER_COMMAND_SIZE];  //
	unsigned long command_count, command_taken; //
};

/* ---- who may talk to it -------------------------------------------------------------------------- */

/* "127.0.0.1:PORT" or "localhost:PORT", perhaps after "http://". Names of other hosts that point here are refused too. */
static bool is_own(const Server *server, const char *text) {
	char name[2][32];
	snprintf(name[0], sizeof name[0], "127.0.0.1:%d", server->port);
	snprintf(name[1], sizeof name[1], "localhost:%d", server->port);
	if (strncmp(text, "http://", 7) == 0)
		text += 7;
	return strcmp(text, name[0]) == 0 || strcmp(text, name[1]) == 0;
}

static bool is_allowed(const Server *server, const struct mg_connection *connection) {
	const char *host = mg_get_header(connection, "Host"), *origin = mg_get_header(connection, "Origin");
	return host && is_own(server, host) && (!origin || is_own(server, origin));
}

/* ---- the page ------------------------------------------------------------------------------------- */

/* An answer that says why there is no other one. Returns its number. */
static int refuse_request(struct mg_connection *connection, int number, const char *name, const char *why) {
	mg_printf(connection,
	          "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\n"
	          "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%sConnection: close\r\n\r\n%s\n",
	          number, name, strlen(why) + 1, number == 405 ? "Allow: GET, HEAD\r\n" : "", why);
	return number;
}

static int refuse_stranger(struct mg_connection *connection) {
	return refuse_request(connection, 403, "Forbidden", "only for pages of this program");
}

static int refuse_crowd(struct mg_connection *connection) {
	return refuse_request(connection, 503, "Service Unavailable", too_many);
}

static int answer_request(struct mg_connection *connection, void *user) {
	Server *server = user;
	const struct mg_request_info *request = mg_get_request_info(connection);
	const bool head = strcmp(request->request_method, "HEAD") == 0;
	if (!is_allowed(server, connection))
		return refuse_stranger(connection);
	if (strcmp(request->local_uri, "/") != 0)
		return refuse_request(connection, 404, "Not Found", "there is one page, /");
	if (!head && strcmp(request->request_method, "GET") != 0)
		return refuse_request(connection, 405, "Method Not Allowed", "the page can be read, and nothing else");
	if (server->options.document && server_clients(server) >= MAX_CLIENTS)
		return refuse_crowd(connection);
	mg_printf(connection,
	          "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
	          "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
	          "Content-Security-Policy: frame-ancestors 'none'\r\nX-Frame-Options: DENY\r\nConnection: close\r\n\r\n",
	          server->options.page_length);
	if (!head)
		mg_write(connection, server->options.page, server->options.page_length);
	return 200;
}

/* ---- what a page posts ------------------------------------------------------------------------------ */

enum { UPLOAD_MOST = 1 << 28 }; // bytes

/* All of it, from malloc; NULL: it did not come, or is too large. */
static void *read_upload(struct mg_connection *connection, size_t length) {
	char *data = length <= UPLOAD_MOST ? malloc(length + 1) : NULL;
	for (size_t at = 0; data && at < length;) {
		const int count = mg_read(connection, data + at, length - at);
		if (count > 0) {
			at += (size_t)count;
			continue;
		}
		free(data);
		data = NULL;
	}
	return data;
}

static int take_upload(struct mg_connection *connection, void *user) {
	Server *server = user;
	const struct mg_request_info *request = mg_get_request_info(connection);
	const char *key = server->options.upload_key, *path = request->local_uri + strlen("/upload");
	const size_t size = strlen(key);
	if (!is_allowed(server, connection) || path[0] != '/' || strncmp(path + 1, key, size) != 0 || path[size + 1] != '/')
		return refuse_stranger(connection);
	if (strcmp(request->request_method, "POST") != 0 || request->content_length < 0)
		return refuse_request(connection, 400, "Bad Request", "post something of a length that is said");
	void *data = read_upload(connection, (size_t)request->content_length);
	const bool taken = data && server->options.upload(server->options.upload_user, path + size + 2, data,
	                                                  (size_t)request->content_length);
	free(data);
	if (!taken)
		return refuse_request(connection, 409, "Conflict", "this was not taken");
	mg_printf(connection, "HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n");
	return 204;
}

/* ---- a page's thread ------------------------------------------------------------------------------- */

/* What a page has not got yet. */
typedef struct Parcel {
	bool tick, text;
	char words[TEXT_SIZE];
} Parcel;

/* Texts first, one at a time: the oldest that is still there. */
static bool pack_frame(Server *server, Client *client, unsigned char *tick, Parcel *parcel) {
	pthread_mutex_lock(&server->out);
	const bool running = client->running;
	parcel->text = client->texts < server->text_count;
	if (parcel->text) {
		if (client->texts + QUEUE < server->text_count)
			client->texts = server->text_count - QUEUE;
		memcpy(parcel->words, server->texts[client->texts++ % QUEUE], TEXT_SIZE);
	}
	parcel->tick = tick && !parcel->text && client->ticks < server->tick_count;
	if (parcel->tick) {
		memcpy(tick, server->tick, server->options.tick_size);
		client->ticks = server->tick_count;
	}
	pthread_mutex_unlock(&server->out);
	return running;
}

typedef struct Task {
	Server *server;
	Client *client;
} Task;

static char *copy_document(Server *server) {
	pthread_mutex_lock(&server->out);
	char *copy = strdup(server->document ? server->document : server->options.document);
	pthread_mutex_unlock(&server->out);
	return copy;
}

static void *serve_client(void *user) {
	Task task = *(Task *)user;
	Server *server = task.server;
	free(user);
	unsigned char *tick = malloc(server->options.tick_size + 1);
	struct mg_connection *connection = task.client->connection;
	char *document = copy_document(server);
	bool well =
		tick && document && mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_TEXT, document, strlen(document)) > 0;
	free(document);
	Parcel parcel;
	while (pack_frame(server, task.client, tick, &parcel) && well) {
		if (parcel.text)
			well = mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_TEXT, parcel.words, strlen(parcel.words)) > 0;
		else if (parcel.tick)
			well = mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_BINARY, (const char *)tick,
			                          server->options.tick_size) > 0;
		else
			nanosleep(&(struct timespec){.tv_nsec = 4000000}, NULL);
	}
	free(tick);
	return NULL;
}

/* Before the handshake; nonzero: there is none, and what was sent is all. */
static int on_connected(const struct mg_connection *connection, void *user) {
	struct mg_connection *to = (struct mg_connection *)connection;
	const bool allowed = is_allowed(user, connection), room = server_clients(user) < MAX_CLIENTS;
	if (!allowed)
		refuse_stranger(to);
	else if (!room)
		refuse_crowd(to);
	return !allowed || !room;
}

static void on_ready(struct mg_connection *connection, void *user) {
	Server *server = user;
	Task *task = malloc(sizeof *task);
	pthread_mutex_lock(&server->out);
	Client *client = NULL;
	for (int i = 0; i < MAX_CLIENTS && !client; i++)
		client = server->clients[i].connection ? NULL : &server->clients[i];
	if (client && task) {
		*client = (Client){.connection = connection, .running = true, .texts = server->text_count};
		*task = (Task){server, client};
		if (pthread_create(&client->thread, NULL, serve_client, task) == 0)
			task = NULL;
		else
			client->connection = NULL;
	}
	pthread_mutex_unlock(&server->out);
	if (task) { // others came at the same moment, or memory is short
		char text[160];
		snprintf(text, sizeof text, "{\"end\":\"%s\"}", too_many);
		mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_TEXT, text, strlen(text));
		mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, "\x03\xf5", 2); // 1013, try again later
	}
	free(task);
}

static void on_closed(const struct mg_connection *connection, void *user) {
	Server *server = user;
	for (int i = 0; i < MAX_CLIENTS; i++) {
		Client *client = &server->clients[i];
		pthread_mutex_lock(&server->out);
		const bool found = client->connection == connection;
		client->running &= !found;
		pthread_mutex_unlock(&server->out);
		if (!found)
			continue;
		pthread_join(client->thread, NULL);
		pthread_mutex_lock(&server->out);
		client->connection = NULL;
		pthread_mutex_unlock(&server->out);
	}
	static const char release[] = "{\"command\":\"release\"}";
	pthread_mutex_lock(&server->in);
	if (server->command_count - server->command_taken < QUEUE)
		memcpy(server->commands[server->command_count++ % QUEUE], release, sizeof release);
	pthread_mutex_unlock(&server->in);
}

/* Whole text messages only; longer ones than a command can be are none. */
static int on_received(struct mg_connection *connection, int bits, char *data, size_t length, void *user) {
	Server *server = user;
	(void)connection;
	if ((bits & 0xf) == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE)
		return 0;
	if ((bits & 0x8f) != (0x80 | MG_WEBSOCKET_OPCODE_TEXT) || length >= SERVER_COMMAND_SIZE)
		return 1;
	char command[SERVER_COMMAND_SIZE];
	memcpy(command, data, length);
	command[length] = '\0';
	if (server->options.at_once && server->options.at_once(server->options.at_once_user, command))
		return 1;
	pthread_mutex_lock(&server->in);
	if (server->command_count - server->command_taken < QUEUE)
		memcpy(server->commands[server->command_count++ % QUEUE], command, length + 1);
	pthread_mutex_unlock(&server->in);
	return 1;
}

/* ---- for the program ----------------------------------------------------------------------------------- */

static void set_handlers(Server *server) {
	mg_set_request_handler(server->context, "/", answer_request, server);
	if (server->options.upload)
		mg_set_request_handler(server->context, "/upload", take_upload, server);
	if (server->options.document)
		mg_set_websocket_handler(server->context, "/live", on_connected, on_ready, on_received, on_closed, server);
}

static bool find_port(Server *server) {
	struct mg_server_port port;
	const int count = mg_get_server_ports(server->context, 1, &port);
	server->port = count == 1 ? port.port : 0;
	return count == 1;
}

Server *server_start(const ServerOptions *options, char *message, size_t size) {
	char ports[32];
	snprintf(ports, sizeof ports, "127.0.0.1:%d", options->port);
	const char *settings[] = {"listening_ports",
	                          ports,
	                          "num_threads",
	                          THREADS,
	                          "request_timeout_ms",
	                          REQUEST_TIMEOUT_MS,
	                          "websocket_timeout_ms",
	                          "3600000",
	                          "enable_keep_alive",
	                          "no",
	                          "tcp_nodelay",
	                          "1",
	                          "enable_directory_listing",
	                          "no",
	                          NULL};
	Server *server = calloc(1, sizeof *server);
	if (server)
		server->tick = malloc(options->tick_size + 1);
	if (!server || !server->tick) {
		free(server);
		snprintf(message, size, "out of memory for the web server");
		return NULL;
	}
	server->options = *options;
	pthread_mutex_init(&server->out, NULL);
	pthread_mutex_init(&server->in, NULL);
	mg_init_library(0);
	const struct mg_callbacks callbacks = {0};
	server->context = mg_start(&callbacks, server, settings);
	if (!server->context || !find_port(server)) {
		snprintf(message, size, "cannot listen on port %d of this machine; is it in use? Another one: =PORT",
		         options->port);
		server_stop(server);
		return NULL;
	}
	set_handlers(server);
	return server;
}

void server_stop(Server *server) {
	if (!server)
		return;
	if (server->context)
		mg_stop(server->context);
	mg_exit_library();
	pthread_mutex_destroy(&server->out);
	pthread_mutex_destroy(&server->in);
	free(server->document);
	free(server->tick);
	free(server);
}

int server_port(const Server *server) { return server->port; }

int server_clients(Server *server) {
	int count = 0;
	pthread_mutex_lock(&server->out);
	for (int i = 0; i < MAX_CLIENTS; i++)
		count += server->clients[i].connection != NULL;
	pthread_mutex_unlock(&server->out);
	return count;
}

bool server_set_document(Server *server, const char *document) {
	char *copy = strdup(document);
	if (!copy)
		return false;
	pthread_mutex_lock(&server->out);
	char *before = server->document;
	server->document = copy;
	pthread_mutex_unlock(&server->out);
	free(before);
	return true;
}

void server_tick(Server *server, const void *bytes) {
	if (pthread_mutex_trylock(&server->out) != 0)
		return;
	memcpy(server->tick, bytes, server->options.tick_size);
	server->tick_count++;
	pthread_mutex_unlock(&server->out);
}

void server_say(Server *server, const char *text) {
	const size_t size = strlen(text) + 1;
	if (size > TEXT_SIZE)
		return;
	pthread_mutex_lock(&server->out); // held by others for the time of a copy only
	memcpy(server->texts[server->text_count++ % QUEUE], text, size);
	pthread_mutex_unlock(&server->out);
}

bool server_command(Server *server, char *text) {
	if (pthread_mutex_trylock(&server->in) != 0)
		return false;
	const bool found = server->command_taken < server->command_count;
	if (found)
		memcpy(text, server->commands[server->command_taken++ % QUEUE], SERVER_COMMAND_SIZE);
	pthread_mutex_unlock(&server->in);
	return found;
}

#else

Server *server_start(const ServerOptions *options, char *message, size_t size) {
	(void)options;
	snprintf(message, size,
	         "this build has no web server; install civetweb (Debian: libcivetweb-dev) and build again with "
	         "CALDER_WITH_CIVETWEB=ON, or write a page with --html");
	return NULL;
}

void server_stop(Server *server) { (void)server; }
int server_port(const Server *server) { return (void)server, 0; }
int server_clients(Server *server) { return (void)server, 0; }
bool server_set_document(Server *server, const char *document) { return (void)server, (void)document, false; }
void server_tick(Server *server, const void *bytes) { (void)server, (void)bytes; }
void server_say(Server *server, const char *text) { (void)server, (void)text; }
bool server_command(Server *server, char *text) { return (void)server, (void)text, false; }

#endif
