// SPDX-License-Identifier: Apache-2.0
/*
 * server.h — a web server for one page on this machine, with a socket on which ticks go out and commands come in.
 *
 * It listens on the loopback interface only and refuses requests that name another host or come from another origin, that
 * do not come within five seconds, or that are one page too many; no other page may hold it in a frame. Each
 * page has a thread of its own that sends it the latest tick; a page that is slow misses ticks. server_tick() never waits:
 * where a thread is just taking the tick before, the new one is dropped. Built with civetweb; otherwise server_start()
 * fails and says so.
 */
#ifndef CALDER_CLI_SERVER_H
#define CALDER_CLI_SERVER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Server Server;

enum { SERVER_COMMAND_SIZE = 512 };

typedef struct ServerOptions {
	int port;           // 0: any that is free
	const char *page;   // [page_length] what the browser gets
	size_t page_length; //
	const char
		*document;    // the first message of a connection, unless server_set_document() gives another; NULL: no socket
	size_t tick_size; // of every tick
	/** A command that a page sent, from one of the server's threads; true: it is done and not queued. NULL: all are queued. */
	bool (*at_once)(void *user, const char *command);
	void *at_once_user;
	/**
	 * What the page posts to "/upload/KEY/NAME", with the key of `upload_key`, from one of the server's threads; false: it is
	 * refused. NULL: nothing is taken.
	 */
	bool (*upload)(void *user, const char *name, const void *data, size_t length);
	const char *upload_key;
	void *upload_user;
} ServerOptions;

/** Texts of options must outlive the server. NULL after writing why into message[size]. */
Server *server_start(const ServerOptions *options, char *message, size_t size);
void server_stop(Server *server); // accepts NULL
int server_port(const Server *server);
/** Pages that are connected. */
int server_clients(Server *server);

/** What pages get first that connect from now on; copied. False: memory is short, they get what was there before. */
bool server_set_document(Server *server, const char *document);
/** Offers a tick to all pages. Never waits. */
void server_tick(Server *server, const void *bytes);
/** Queues a text message for all pages: state, event, end. One that finds no room is dropped. */
void server_say(Server *server, const char *text);
/** The next command that a page sent and nobody did at once, into text[SERVER_COMMAND_SIZE]; false: there is none. Never waits. */
bool server_command(Server *server, char *text);

#endif
